package offsets

// Processors are those that Open knows, for a test that adds one.
var Processors = processors
