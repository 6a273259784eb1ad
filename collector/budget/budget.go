// Package budget bounds the memory of all queues and buffers of a process together, and counts what it refuses.
package budget

import (
	"math"
	"sync/atomic"
)

// Budget is a number of bytes that accounts share. Near its end each account stops at a limit of its own, so that what matters
// least is refused first.
type Budget struct {
	limit    int64
	used     atomic.Int64
	accounts []*Account
}

// New returns a Budget of limit bytes. Its accounts must be opened before it is used concurrently.
func New(limit int64) *Budget { return &Budget{limit: limit} }

// Account is one user of a Budget. Its methods may be called concurrently. A nil Account refuses nothing and counts nothing.
type Account struct {
	name   string
	budget *Budget
	own    int64 // bytes that it may use
	all    int64 // bytes that all accounts may use when it reserves some
	used   atomic.Int64
	shed   atomic.Uint64
}

// Account opens an account. It may use a part of the budget, as long as all accounts together use no more than the share.
func (b *Budget) Account(name string, part, share float64) *Account {
	a := &Account{name: name, budget: b, own: int64(part * float64(b.limit)), all: int64(share * float64(b.limit))}
	b.accounts = append(b.accounts, a)
	return a
}

// Reserve takes n bytes, or reports false and counts a refusal where there is no room for them.
func (a *Account) Reserve(n int) bool {
	if a == nil {
		return true
	}
	own, all := a.used.Add(int64(n)), a.budget.used.Add(int64(n))
	if own > a.own || all > a.all {
		a.Hold(-n)
		a.shed.Add(1)
		return false
	}
	return true
}

// Release gives n bytes back.
func (a *Account) Release(n int) { a.Hold(-n) }

// Hold takes n bytes, or gives them back where n is negative. It never refuses: it is for what must be held, and for what is made
// smaller afterwards, as Left says.
func (a *Account) Hold(n int) {
	if a != nil {
		a.used.Add(int64(n))
		a.budget.used.Add(int64(n))
	}
}

// Left returns how many bytes the account may still take, less than 0 where it must give some back.
func (a *Account) Left() int {
	if a == nil {
		return math.MaxInt
	}
	return int(min(a.own-a.used.Load(), a.all-a.budget.used.Load()))
}

// Shed counts something that was dropped to make room.
func (a *Account) Shed() {
	if a != nil {
		a.shed.Add(1)
	}
}

// Use is what an account has taken.
type Use struct {
	Name  string
	Bytes int64
	Shed  uint64 // refusals, and what was dropped for room
}

// Limit returns the bytes of the budget.
func (b *Budget) Limit() int64 { return b.limit }

// Uses returns the use of each account, in the order of their opening.
func (b *Budget) Uses() []Use {
	uses := make([]Use, len(b.accounts))
	for i, a := range b.accounts {
		uses[i] = Use{a.name, a.used.Load(), a.shed.Load()}
	}
	return uses
}
