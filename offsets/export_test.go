package offsets

import "github.com/ftgo/ftgo/offsets/internal/image"

// Processors are those that Open knows, for a test that adds one.
var Processors = image.Processors
