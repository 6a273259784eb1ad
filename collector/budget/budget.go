// Package budget bounds the memory of all queues, buffers and open runs of a process together, and counts what it
// refuses.
package budget

import (
	"math"
	"sync/atomic"
)

// Budget is a number of bytes that accounts share. Each account may use the budget up to a limit of
// its own, so that the least important data is refused first.
type Budget struct {
	limit    int64
	used     atomic.Int64
	accounts []*Account
}

// New returns a Budget of limit bytes. Open its accounts before it is used concurrently.
func New(limit int64) *Budget { return &Budget{limit: limit} }

// Account is one user of a Budget. Its methods may be called concurrently. A nil Account refuses
// nothing and counts nothing.
type Account struct {
	name       string
	budget     *Budget
	ownLimit   int64 // maximum bytes of this account
	totalLimit int64 // maximum bytes of all accounts together for this one to reserve more
	guaranteed int64 // bytes that the account may take however much other accounts take
	used       atomic.Int64
	shed       atomic.Uint64
}

// Account opens an account. It may use the fraction own of the budget, as long as all accounts
// together use no more than the fraction total.
func (b *Budget) Account(name string, own, total float64) *Account {
	a := &Account{name: name, budget: b, ownLimit: int64(own * float64(b.limit)), totalLimit: int64(total * float64(b.limit))}
	b.accounts = append(b.accounts, a)
	return a
}

// Guarantee lets the account take a share of the budget, up to its own limit, however much other accounts take. Call it before the budget
// is used. It returns the account.
func (a *Account) Guarantee(share float64) *Account {
	a.guaranteed = int64(share * float64(a.budget.limit))
	return a
}

// Reserve takes n bytes. If there is no room for them, it counts a refusal and returns false.
func (a *Account) Reserve(n int) bool {
	if a == nil {
		return true
	}
	own, total := a.used.Add(int64(n)), a.budget.used.Add(int64(n))
	if own > a.ownLimit || own > a.guaranteed && total > a.totalLimit {
		a.Charge(-n)
		a.shed.Add(1)
		return false
	}
	return true
}

// Release gives n bytes back.
func (a *Account) Release(n int) { a.Charge(-n) }

// Charge takes n bytes, or returns them if n is negative. It never refuses: use it for memory that is
// needed in any case, and for memory that the caller reduces later if Remaining is negative.
func (a *Account) Charge(n int) {
	if a != nil {
		a.used.Add(int64(n))
		a.budget.used.Add(int64(n))
	}
}

// ChargeWithin takes n bytes if the account keeps to its own limit, however much other accounts take. It reports
// whether it took them, and counts no refusal: use it for memory that is needed in any case.
func (a *Account) ChargeWithin(n int) bool {
	if a == nil {
		return false
	}
	a.Charge(n)
	if a.used.Load() > a.ownLimit {
		a.Charge(-n)
		return false
	}
	return true
}

// Limit returns how many bytes the account may take if no other account takes any.
func (a *Account) Limit() int {
	if a == nil {
		return math.MaxInt
	}
	return int(min(a.ownLimit, a.totalLimit))
}

// Remaining returns how many bytes the account may still take. If the result is negative, the account
// should release that many bytes.
func (a *Account) Remaining() int {
	if a == nil {
		return math.MaxInt
	}
	own, shared := a.used.Load(), a.totalLimit-a.budget.used.Load()
	if a.guaranteed > 0 {
		shared = max(shared, a.guaranteed-own)
	}
	return int(min(a.ownLimit-own, shared))
}

// CountShed counts an item that was dropped to make room.
func (a *Account) CountShed() {
	if a != nil {
		a.shed.Add(1)
	}
}

// Usage is what an account uses.
type Usage struct {
	Name  string
	Bytes int64
	Shed  uint64 // refusals, and items dropped to make room
}

// Limit returns the size of the budget in bytes.
func (b *Budget) Limit() int64 { return b.limit }

// Usage returns the usage of each account, in the order in which they were opened.
func (b *Budget) Usage() []Usage {
	all := make([]Usage, len(b.accounts))
	for i, a := range b.accounts {
		all[i] = Usage{a.name, a.used.Load(), a.shed.Load()}
	}
	return all
}
