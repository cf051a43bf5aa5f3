package format

// Count is the number of formats.
const Count = len(formats)
