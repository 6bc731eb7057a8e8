package terminal

// Keys without a letter, as what terminals send for them is told.
const (
	Home, End        = 0x01, 0x05
	PageUp, PageDown = 0x02, 0x06
	Up, Down         = 0x10, 0x0e
	Backspace, Erase = 0x08, 0x7f
	Enter            = '\r'
	Interrupt        = 0x03
	Escape           = 0x1b
)
