/// What a message asks for, step by step.
struct Plan {
    var steps: [any Intention] = []
    /// Whether it is only to be shown for now.
    var isPending = false
    /// Parts of the message that were not understood.
    var unread: [String] = []
}
