extension Files {
    /// Replaces the file with `bytes` in one step: a reader, or a crash at any moment, meets the old content or the new.
    ///
    /// Without `mode` the permissions of an existing file are kept, and a new one is private (0o600). A symbolic link
    /// stays: what it points to is replaced. The content is on the disk when this returns.
    public static func writeAtomically(_ bytes: [UInt8], to path: String, mode: UInt32? = nil) throws(FileError) {
        let write = try AtomicWrite(replacing: path, mode: mode)
        try write.write(bytes.span)
        try write.commit()
    }
}
