package wire

// IndexByName returns the given values by their names.
func IndexByName[V any](name func(*V) string, all ...V) map[string]*V {
	index := make(map[string]*V, len(all))
	for i := range all {
		index[name(&all[i])] = &all[i]
	}
	return index
}
