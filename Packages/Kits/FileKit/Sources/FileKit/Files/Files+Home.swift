extension Files {
    /// The person's home, with the links followed by which it is reached; nil where the environment names none.
    public static func home(in environment: [String: String]) -> String? {
        guard let home = environment["HOME"], !home.isEmpty else { return nil }
        // One that is not there is what it is called.
        do throws(FileError) { return try canonical(home) } catch { return home }
    }
}
