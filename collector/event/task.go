package event

// Task is a part of an agent's work. Several tasks of an agent may work at the same time.
type Task struct {
	ID      string // "" if unknown
	Step    string // all tasks of a step begin together, after those of the step before have ended; "" if unknown
	Unknown bool   // KindModelStarted, KindModelEnded: no frame shows after what the model was asked
}
