/// Which side of a wider field text is put on.
public enum TextAlignment: Sendable, Hashable {
    /// Against the left edge, padded on the right.
    case leading
    /// Against the right edge, padded on the left.
    case trailing
}
