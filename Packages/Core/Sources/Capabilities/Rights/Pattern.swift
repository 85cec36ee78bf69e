/// Words in which `*` stands for anything.
enum Pattern {
    static func fits(_ pattern: String, _ text: String) -> Bool {
        let (pattern, text) = (Array(pattern.utf8), Array(text.utf8))
        var (place, next) = (0, 0)
        // Where the last star stands, and what it has taken so far: it takes more only when nothing else helps.
        var star: (place: Int, taken: Int)?
        while next < text.count {
            if place < pattern.count, pattern[place] == UInt8(ascii: "*") {
                star = (place, next)
                place += 1
            } else if place < pattern.count, pattern[place] == text[next] {
                place += 1
                next += 1
            } else if let (before, taken) = star {
                star = (before, taken + 1)
                (place, next) = (before + 1, taken + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
