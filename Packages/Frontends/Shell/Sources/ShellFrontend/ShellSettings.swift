import Settings

/// What the settings say about the shell.
struct ShellSettings: Sendable {
    var mouse = true
    var keys: [String: String] = [:]

    private static let mouse = Setting("mouse", "Whether the shell uses the mouse: clicks and the wheel", default: true)
    private static let keys = Setting(
        "keys",
        "Keys by command, such as {\"quit\": \"ctrl-q\", \"commands\": \": ctrl-p\"}; ? in the shell lists the commands",
        default: [String: String]())

    static let declarations = [mouse.declaration, keys.declaration]

    init(_ settings: FeatureSettings) {
        mouse = settings[Self.mouse]
        keys = settings[Self.keys]
    }
}
