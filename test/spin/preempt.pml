/*
 * A DELETE takes over from a running provision: which guards does it take so that nothing is left of the instance?
 *
 * Two workers run three operations on one instance: its provision, its deletion and the sweep after that. A worker may
 * die or fall asleep between any two lines, a lease may run out at any moment, and the backend takes the calls that are on
 * their way in any order. Each switch is one guard of the broker; docs/designs/0004-preemption.md says where it stands.
 *
 *   CAS     a worker's write counts only while its operation is running under its fence
 *   DRAIN   the deletion starts when the lease of the provision has ended; no call is sent without a lease
 *   LATE    a call may land after the lease under which it was sent (not a guard: the world as it is)
 *   SWEEP   the deletion is done once more when every call that was on its way has landed
 *   FENCED  the backend refuses a call whose fence is older than the newest one it has seen
 *
 * With OWNER the thing is a binding, and the instance that it belongs to is deprovisioned when the deletion has succeeded;
 * the claim is then that nothing is there from the moment on at which the deprovision succeeds.
 *
 *   WAIT    the deprovision starts when no sweep of a binding is active
 *
 * With REUSE the thing is there and is deleted, and its id is used again before the sweep has ended; the claim is then that
 * what was created the second time is there from the moment on at which the creation succeeds.
 *
 *   FIRST   the creation supersedes the sweep, and does it before its own work
 *   AGAIN   and once more, when everything has landed, if a call of it may be on its way
 *
 * PROBE turns the claim around, to show that the end is reached at all. Safety only; each operation is claimed at most
 * twice.
 */

#define PROVISION 0
#define DELETION 1
#define SWEEPING 2
#define DEPROVISION 3
/* An instance that is deprovisioned and an id that is used again are never looked at together. */
#define CREATION 3
#define CLAIMS 4
#define ATTEMPTS 2
#define FENCES 9

mtype = { absent, queued, running, superseded, succeeded }
mtype = { unused, creating, deleting, landed, refused }

/* The ledger: each atomic block that touches it is one transaction. */
mtype state[4]
byte fence[4]
bool leased[4]
byte attempts[4]
byte newest

/* The backend, and what is on its way to it under each fence. */
mtype wire[FENCES]
bool thing
byte seen

/* Workers that are in the middle of something. */
byte busy

/* The creation: whether it has to sweep first, when everything has landed, and whether that may lose a call. */
bool first
bool later
bool doubt

#define onItsWay(f) (wire[f] == creating || wire[f] == deleting)
#define allLanded (!onItsWay(1) && !onItsWay(2) && !onItsWay(3) && !onItsWay(4) && !onItsWay(5) && !onItsWay(6) && !onItsWay(7) && !onItsWay(8))
#define isDue(o) (attempts[o] < ATTEMPTS && (state[o] == queued || (state[o] == running && !leased[o])))

#ifdef DRAIN
#define isDrained !leased[PROVISION]
#define maySend(o, f) (leased[o] && fence[o] == f)
#else
#define isDrained true
#define maySend(o, f) true
#endif

#ifdef WAIT
#define isQuiet (state[SWEEPING] != queued && state[SWEEPING] != running)
#else
#define isQuiet true
#endif

#define isCreationDue (attempts[CREATION] < CLAIMS && (state[CREATION] == queued || (state[CREATION] == running && !leased[CREATION])))

#ifdef CAS
#define mayWrite(o, f) (state[o] == running && fence[o] == f)
#else
#define mayWrite(o, f) true
#endif

#ifdef LATE
#define mayRunOut(o) leased[o]
#else
#define mayRunOut(o) (leased[o] && !onItsWay(fence[o]))
#endif

inline claim(o) {
	my = o;
	newest++;
	me = newest;
	attempts[o]++;
	fence[o] = me;
	leased[o] = true;
	state[o] = running;
	busy++
}

#ifdef REUSE
#define creates(o) (o == CREATION && !first)
#else
#define creates(o) (o == PROVISION)
#endif

proctype Worker() {
	byte my, me;

idle:
end:
	if
	:: atomic { isDue(PROVISION) -> claim(PROVISION) }
	:: atomic { isDue(DELETION) && isDrained -> claim(DELETION) }
	:: atomic { isDue(SWEEPING) && allLanded -> claim(SWEEPING) }
#ifdef OWNER
	:: atomic { isDue(DEPROVISION) && isQuiet -> claim(DEPROVISION) }
#endif
#ifdef REUSE
	:: atomic {
		isCreationDue && (!first || !leased[SWEEPING]) && (!later || allLanded) ->
		doubt = (doubt || (first && state[CREATION] == running));
		later = false;
		claim(CREATION)
	}
#endif
	fi;

#ifdef OWNER
	/* What the deprovision calls is another thing. */
	if
	:: my == DEPROVISION -> goto result
	:: else
	fi;
#endif

	/* One call, unless the worker dies before it, or knows that its lease is gone. */
	if
	:: atomic { maySend(my, me) -> wire[me] = (creates(my) -> creating : deleting) }
	:: goto gone
	fi;

	/* The answer; the worker may die, or give up, at any time before it comes. */
	if
	:: wire[me] == landed
	:: wire[me] == refused -> goto gone
	:: goto gone
	fi;

result:
	/* The result. Whoever is refused has lost the operation, and lets its successor start. */
	atomic {
		if
		:: mayWrite(my, me) ->
			/* A result never changes. */
			assert(state[my] != superseded);
			state[my] = succeeded;
			leased[my] = false;
#ifdef REUSE
			/* The sweep has ended, and not the creation. */
			if
			:: my == CREATION && first ->
				state[CREATION] = queued;
#ifdef AGAIN
				first = doubt;
				later = doubt;
#else
				first = false;
#endif
				doubt = false
			:: else
			fi;
#endif
#ifdef SWEEP
			if
			:: my == DELETION -> state[SWEEPING] = queued
			:: else
			fi
#endif
		:: else ->
			if
			:: fence[my] == me -> leased[my] = false
			:: else
			fi
		fi
	}
gone:
	atomic { busy--; my = 0; me = 0; goto idle }
}

/* Leases run out, whoever holds them and whatever he is doing. */
active proctype Time() {
end:
	do
	:: atomic { mayRunOut(PROVISION) -> leased[PROVISION] = false }
	:: atomic { mayRunOut(DELETION) -> leased[DELETION] = false }
	:: atomic { mayRunOut(SWEEPING) -> leased[SWEEPING] = false }
	:: atomic { mayRunOut(DEPROVISION) -> leased[DEPROVISION] = false }
	od
}

inline land(f) {
	if
#ifdef FENCED
	:: f < seen -> wire[f] = refused
#endif
	:: else ->
		seen = f;
		thing = (wire[f] == creating);
		wire[f] = landed
	fi
}

/* Any call that is on its way may be the next to land. */
active proctype Backend() {
end:
	do
	:: atomic { onItsWay(1) -> land(1) }
	:: atomic { onItsWay(2) -> land(2) }
	:: atomic { onItsWay(3) -> land(3) }
	:: atomic { onItsWay(4) -> land(4) }
	:: atomic { onItsWay(5) -> land(5) }
	:: atomic { onItsWay(6) -> land(6) }
	:: atomic { onItsWay(7) -> land(7) }
	:: atomic { onItsWay(8) -> land(8) }
	od
}

active proctype Platform() {
	atomic {
		state[DELETION] = queued;
		if
		:: state[PROVISION] == queued || state[PROVISION] == running -> state[PROVISION] = superseded
		:: else
		fi
	}
}

#ifdef REUSE
active proctype Again() {
end:
	atomic {
		state[SWEEPING] == queued || state[SWEEPING] == running ->
		state[CREATION] = queued;
#ifdef FIRST
		state[SWEEPING] = superseded;
		first = true;
		/* A sweep that has begun was due: all before it has landed, and only its own calls may not have. */
		doubt = (attempts[SWEEPING] > 0);
		later = !doubt
#endif
	}
}
#endif

#ifdef OWNER
active proctype Owner() {
end:
	atomic { state[DELETION] == succeeded -> state[DEPROVISION] = queued }
}

#define isOver (state[DEPROVISION] == succeeded)
#elif defined(REUSE)
#define isOver (state[CREATION] == succeeded)
#else
#define isOver (state[LAST] == succeeded && busy == 0 && allLanded)
#endif

#ifdef SWEEP
#define LAST SWEEPING
#else
#define LAST DELETION
#endif

init {
	atomic {
#ifdef REUSE
		state[PROVISION] = succeeded;
		thing = true;
#else
		state[PROVISION] = queued;
#endif
		state[DELETION] = absent;
		state[SWEEPING] = absent;
		state[DEPROVISION] = absent;
		run Worker();
		run Worker()
	}
end:
	atomic {
		isOver ->
#ifdef PROBE
		assert(false)
#elif defined(REUSE)
		assert(thing)
#else
		assert(!thing)
#endif
	}
}
