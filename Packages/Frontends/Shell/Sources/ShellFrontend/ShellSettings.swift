import Settings

/// What the settings say about the shell.
struct ShellSettings: Sendable {
    var mouse = true
    var plain = false
    var keys: [String: String] = [:]

    private static let mouse = Setting("mouse", "Whether the shell uses the mouse: clicks and the wheel", default: true)
    private static let plain = Setting(
        "plain", "Whether the shell prints lines and moves no cursor, for screen readers", default: false)
    private static let keys = Setting(
        "keys",
        "Keys by command, such as {\"quit\": \"ctrl-q\", \"commands\": \": ctrl-p\"}; ? in the shell lists the commands",
        default: [String: String]())

    static let declarations = [mouse.declaration, plain.declaration, keys.declaration]

    init(_ settings: FeatureSettings) {
        mouse = settings[Self.mouse]
        plain = settings[Self.plain]
        keys = settings[Self.keys]
    }
}
