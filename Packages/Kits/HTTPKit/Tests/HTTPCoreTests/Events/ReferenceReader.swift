import HTTPCore

/// The standard's algorithm, step by step over the whole stream at once: slow, and easy to check by eye.
enum ReferenceReader {
    static func events(_ stream: [UInt8]) -> (events: [ServerSentEvent], lastEventID: String, retry: Duration?) {
        var bytes = stream[...]
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        var (events, line, data): ([ServerSentEvent], [UInt8], [UInt8]) = ([], [], [])
        var (type, id, last): ([UInt8], String, String) = ([], "", "")
        var retry: Duration?
        func field() {
            guard !line.isEmpty else {
                last = id
                if !data.isEmpty {
                    let name = type.isEmpty ? "message" : String(decoding: type, as: UTF8.self)
                    events.append(ServerSentEvent(type: name, data: Array(data.dropLast()), lastEventID: last))
                }
                (data, type) = ([], [])
                return
            }
            let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
            var value = line[min(colon + 1, line.endIndex)...]
            if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
            switch String(decoding: line[..<colon], as: UTF8.self) {
            case "data": data += value + [10]
            case "event": type = Array(value)
            case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
            case "retry":
                let isNumber = !value.isEmpty && value.allSatisfy { (48...57).contains($0) }
                if isNumber { retry = .milliseconds(Int64(String(decoding: value, as: UTF8.self)) ?? .max) }
            default: break
            }
        }
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            if byte == 10 || byte == 13 {
                if byte == 13, index < bytes.endIndex, bytes[index] == 10 { index += 1 }
                field()
                line = []
            } else {
                line.append(byte)
            }
        }
        return (events, last, retry)
    }
}
