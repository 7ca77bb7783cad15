package throttle

// Remembered returns how many keys g has on record, those included whose cool-downs are over.
func (g *Gate) Remembered() int {
	n := 0
	g.keys.table.Load().each(func(*cooldown) { n++ })
	if int64(n) != g.keys.count.Load() {
		panic("throttle: keys miscounted")
	}
	return n
}

// WhileLocked calls f while nobody else can write to g.
func (g *Gate) WhileLocked(f func()) {
	g.keys.mu.Lock()
	defer g.keys.mu.Unlock()
	f()
}
