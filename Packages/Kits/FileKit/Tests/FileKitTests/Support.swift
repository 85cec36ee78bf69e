import FileKit

/// The code of the `FileError` that the body throws, or nil when it throws none.
func failure(_ body: () throws(FileError) -> Void) -> FileError.Kind? {
    do throws(FileError) {
        try body()
        return nil
    } catch {
        return error.kind
    }
}
