/// What was found in a file.
struct FileHits: Sendable {
    struct Line: Sendable {
        let number: Int
        let text: String
        /// Not one of those around.
        let isMatch: Bool
    }

    /// Why a file was not searched to its end.
    enum Gap: Sendable { case binary, longLine, effort }

    let path: EntryPath
    /// In the order of the walk.
    let place: Int
    var lines: [Line] = []
    var matches = 0
    var gap: Gap?
}
