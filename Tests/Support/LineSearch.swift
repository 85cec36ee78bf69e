import Glibc

/// The lines of a text that contain one of the words, with their numbers.
///
/// The C library looks for the words: without optimisation, a regular expression for each line of the repository takes a minute.
public func lines(of text: String, with words: [String]) -> [(number: Int, line: Substring)] {
    let isWanted = words.contains { word in unsafe text.withCString { unsafe strstr($0, word) != nil } }
    guard isWanted else { return [] }
    var starts: Set<Int> = []
    unsafe text.withCString { start in
        for word in words {
            var place = unsafe start
            while let hit = unsafe strstr(place, word) {
                var line = unsafe UnsafePointer(hit)
                while unsafe line > start, unsafe line[-1] != CChar(UInt8(ascii: "\n")) { unsafe line -= 1 }
                starts.insert(unsafe line - start)
                unsafe place = UnsafePointer(hit) + 1
            }
        }
    }
    let bytes = text.utf8
    var (number, last, found): (Int, Int, [(number: Int, line: Substring)]) = (1, 0, [])
    for start in starts.sorted() {
        let from = bytes.index(bytes.startIndex, offsetBy: last)
        let begin = bytes.index(bytes.startIndex, offsetBy: start)
        number += bytes[from..<begin].count { $0 == UInt8(ascii: "\n") }
        last = start
        found.append((number, text[begin...].prefix { $0 != "\n" }))
    }
    return found
}
