/// How a piece of text looks: a token for its colour and a few attributes.
public struct Style: Sendable, Hashable {
    /// The colour of the text; without one, the terminal's own.
    public var token: ThemeToken?
    /// Heavier than its surroundings.
    public var bold: Bool
    /// Fainter than its surroundings.
    public var dim: Bool
    /// Slanted.
    public var italic: Bool
    /// With a line below.
    public var underline: Bool
    /// With a line through it.
    public var strikethrough: Bool
    /// Where the text leads, on terminals that follow links.
    public var link: LinkTarget?

    /// A style; everything left out looks as the terminal draws plain text.
    public init(
        _ token: ThemeToken? = nil, bold: Bool = false, dim: Bool = false, italic: Bool = false,
        underline: Bool = false, strikethrough: Bool = false, link: LinkTarget? = nil
    ) {
        self.token = token
        self.bold = bold
        self.dim = dim
        self.italic = italic
        self.underline = underline
        self.strikethrough = strikethrough
        self.link = link
    }

    /// Text as the terminal draws it.
    public static let plain = Style()
}
