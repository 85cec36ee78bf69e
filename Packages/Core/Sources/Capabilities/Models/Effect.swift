/// What doing something changes, which decides who must agree to it.
public enum Effect: String, Choice, Hashable {
    /// Nothing is changed.
    case reads
    /// Something is made, sent or changed.
    case writes
    /// Something is lost that cannot be had back.
    case destroys
}
