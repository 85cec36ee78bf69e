import CUTF8Proc

extension TextWidth {
    /// The version of the library whose tables decide the widths, as it is loaded.
    public static var libraryVersion: String { unsafe String(cString: utf8proc_version()) }
}
