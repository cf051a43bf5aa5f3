package command

// Formats returns the names of the formats that answers can be written in.
func Formats() []string { return append([]string(nil), formats...) }
