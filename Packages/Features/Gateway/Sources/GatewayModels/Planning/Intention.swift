/// One thing that the planner can do.
///
/// It is written as if tools answered at once. `Desk.ask` gives the result of a call that was answered already, and
/// otherwise ends this round with the call; in the next round everything runs again from the beginning, up to the first
/// call that has no answer yet. So an intention must do the same whenever it is given the same results.
protocol Intention: Sendable {
    /// Nil when a clause asks for something else.
    init?(_ clause: Clause)
    /// What it does, as a step of a plan: "look for TODO and FIXME".
    var words: String { get }
    func carryOut(at desk: inout Desk) throws(Stop)
}

/// One that can be shown before it is done.
protocol Previewing: Intention {
    /// The same for real.
    var applied: Self { get }
}

/// One that can be asked again with something different.
protocol Continuing: Intention {
    func continued(_ change: Continuation) -> Self?
}
