public import Capabilities

/// The look of a piece of text: a token for its colour and a few attributes.
public struct Style: Sendable, Hashable {
    /// The colour of the text; without one, the terminal's own.
    public var token: ThemeToken?
    /// Heavier than its surroundings.
    public var bold: Bool
    /// Fainter than its surroundings.
    public var dim: Bool
    /// Slanted.
    public var italic: Bool
    /// Underlined.
    public var underline: Bool
    /// Struck through.
    public var strikethrough: Bool
    /// The link target of the text, on terminals that support links.
    public var link: LinkTarget?
    /// The colour of the surface below the text; without one, the terminal's own.
    public var background: ThemeToken?
    /// The colours of text and surface are exchanged.
    public var reverse: Bool

    /// A style; everything omitted looks like the terminal's plain text.
    public init(
        _ token: ThemeToken? = nil, bold: Bool = false, dim: Bool = false, italic: Bool = false,
        underline: Bool = false, strikethrough: Bool = false, link: LinkTarget? = nil,
        background: ThemeToken? = nil, reverse: Bool = false
    ) {
        self.token = token
        self.bold = bold
        self.dim = dim
        self.italic = italic
        self.underline = underline
        self.strikethrough = strikethrough
        self.link = link
        self.background = background
        self.reverse = reverse
    }

    /// Text as the terminal draws it.
    public static let plain = Style()

    /// The parameters of the "select graphic rendition" sequence, separated by semicolons.
    func parameters(level: ColorLevel, theme: Theme) -> String {
        Rendition(self, level: level, theme: theme).parameters
    }

    func with(_ token: ThemeToken) -> Style {
        var style = self
        style.token = token
        return style
    }
}

/// A link target: http, https or mailto, in characters that end no escape sequence.
public struct LinkTarget: Sendable, Hashable {
    /// The address, printable ASCII only; everything else in it is percent-encoded.
    public let address: String

    /// Terminals refuse longer ones.
    private static let maximumLength = 2_000

    /// The target of `address`; nil if it has another scheme or is too long.
    public init?(_ address: String) {
        let scheme = address.prefix { $0 != ":" }.lowercased()
        guard ["http", "https", "mailto"].contains(scheme), address.utf8.count > scheme.utf8.count + 1 else {
            return nil
        }
        let encoded = PercentEncoding.encode(address) { $0 > 0x20 && $0 < 0x7F }
        guard encoded.utf8.count <= Self.maximumLength else { return nil }
        self.address = encoded
    }
}
