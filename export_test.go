package ftgo

// SetBuffer sets the size of each CPU's ring buffer, so that a test can fill it.
func (t *Tracer) SetBuffer(kb int) { t.bufferKB = kb }
