/// The names of colours. Only a theme knows the colours themselves.
public enum ThemeToken: String, Sendable, Hashable, CaseIterable {
    /// The page.
    case background
    /// Text on the page.
    case foreground
    /// Quiet surfaces.
    case muted
    /// Text of less importance.
    case mutedForeground = "muted-foreground"
    /// Surfaces above the page.
    case popover
    /// Text above the page.
    case popoverForeground = "popover-foreground"
    /// Framed surfaces.
    case card
    /// Text in a frame.
    case cardForeground = "card-foreground"
    /// Lines between elements.
    case border
    /// Input fields.
    case input
    /// The main action.
    case primary
    /// Text on the main action.
    case primaryForeground = "primary-foreground"
    /// Other actions.
    case secondary
    /// Text on other actions.
    case secondaryForeground = "secondary-foreground"
    /// Success, or a selection.
    case accent
    /// Text on success or a selection.
    case accentForeground = "accent-foreground"
    /// Failure, or destruction.
    case destructive
    /// Text on failure or destruction.
    case destructiveForeground = "destructive-foreground"
    /// Running, or focused.
    case ring
    /// The first series of a chart.
    case chart1 = "chart-1"
    /// The second series of a chart.
    case chart2 = "chart-2"
    /// The third series of a chart.
    case chart3 = "chart-3"
    /// The fourth series of a chart.
    case chart4 = "chart-4"
    /// The fifth series of a chart.
    case chart5 = "chart-5"

    // MARK: Hues of text, which the palette above lacks

    /// The first words of an error.
    case error
    /// The first words of a warning.
    case warning
    /// A line added by a change.
    case added
    /// A line removed by a change.
    case removed
    /// A keyword of a programming language.
    case keyword
    /// A quoted text.
    case string
    /// A number, or another value.
    case number
    /// A comment.
    case comment
    /// Code within a sentence.
    case code
    /// A link.
    case link
    /// A title.
    case heading
}
