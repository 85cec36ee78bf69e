import JSON

extension JSON {
    /// The compact text of the value, in UTF-8.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(into: &bytes)
        return bytes
    }
}

extension JSONObject {
    var bytes: [UInt8] { JSON.object(self).bytes }
}
