package sqlstore

// NetworkKinds are the file systems that are refused.
func NetworkKinds() map[uint32]string { return networkKinds }
