import JSON

extension SecretImport {
    mutating func readJSON(_ text: [UInt8]) {
        do {
            let document = try JSONDocument(parsing: text, reading: .strict, name: "import")
            for (key, value) in document.value.object ?? [:] {
                let line = document.keyPosition(of: [key])?.line ?? 1
                if let value = value.string {
                    add(key, value, line: line)
                } else {
                    complain("a secret has to be text, not \(value.kindName)", line: line)
                }
            }
        } catch {
            // The reader's own words may quote what stands there.
            complain("this is not an object in JSON (column \(error.column))", line: error.line)
        }
    }
}
