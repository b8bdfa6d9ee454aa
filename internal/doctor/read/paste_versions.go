package read

// JetPack is the generation of a Jetson's system; 0 unknown.
func (c *Case) JetPack() int {
	l4t := c.Machine.Platform.L4T
	return map[string]int{"32": 4, "34": 5, "35": 5, "36": 6, "38": 7, "39": 7}[l4t[:min(2, len(l4t))]]
}
