/// What a person asked for with `--color`.
public enum ColorChoice: String, Sendable, Hashable, CaseIterable {
    /// Colour where the output is a terminal that has it.
    case auto
    /// Colour even into a file or a pipe.
    case always
    /// No colour.
    case never
}
