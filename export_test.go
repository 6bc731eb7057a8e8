package ftgo

// SetBuffer has the ring buffer of each CPU be so small that tests can fill it.
func (t *Tracer) SetBuffer(kb int) { t.bufferKB = kb }
