/// The names under which colours are used; nothing but a theme knows the colours themselves.
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
    /// Lines between things.
    case border
    /// Fields that take input.
    case input
    /// The main action.
    case primary
    /// Text on the main action.
    case primaryForeground = "primary-foreground"
    /// Other actions.
    case secondary
    /// Text on other actions.
    case secondaryForeground = "secondary-foreground"
    /// What succeeded or is selected.
    case accent
    /// Text on what succeeded or is selected.
    case accentForeground = "accent-foreground"
    /// What failed or destroys.
    case destructive
    /// Text on what failed or destroys.
    case destructiveForeground = "destructive-foreground"
    /// What is running or has the focus.
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

    /// The words that an error begins with.
    case error
    /// The words that a warning begins with.
    case warning
    /// A line that a change adds.
    case added
    /// A line that a change takes away.
    case removed
    /// A word of a programming language.
    case keyword
    /// A text in quotes.
    case string
    /// A number, or another value.
    case number
    /// What the compiler does not read.
    case comment
    /// Code in the midst of a sentence.
    case code
    /// What leads elsewhere.
    case link
    /// A title.
    case heading
}
