import CCMarkGFM

extension Markdown {
    /// The version of the library that reads Markdown, as it is loaded.
    public static var libraryVersion: String { unsafe String(cString: cmark_version_string()) }
}
