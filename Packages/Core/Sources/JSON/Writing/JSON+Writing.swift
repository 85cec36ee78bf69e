extension JSON {
    /// The value as text; compact unless asked otherwise.
    ///
    /// A number that JSON cannot express, which no reader makes, becomes `null`.
    public func text(_ options: JSONWriting = []) -> String {
        var bytes: [UInt8] = []
        write(into: &bytes, options)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the text of the value, in UTF-8.
    public func write(into bytes: inout [UInt8], _ options: JSONWriting = []) {
        let style = options.contains(.pretty) ? JSONWriter.Style.lines(indent: "  ") : .compact
        var writer = JSONWriter(style, isSorted: options.contains(.sorted))
        swap(&writer.output, &bytes)
        writer.write(self)
        swap(&writer.output, &bytes)
    }
}
