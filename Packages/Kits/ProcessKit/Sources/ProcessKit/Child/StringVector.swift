import Glibc

/// A null-terminated array of C strings, as `argv` and `envp` want them.
@safe
struct StringVector: ~Copyable {
    private let start: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ strings: [String]) {
        count = strings.count
        unsafe start = .allocate(capacity: count + 1)
        for (index, string) in strings.enumerated() { unsafe (start + index).initialize(to: strdup(string)) }
        unsafe (start + count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { unsafe free(start[index]) }
        unsafe start.deallocate()
    }

    /// The array for C, valid as long as this value is.
    var pointer: UnsafePointer<UnsafeMutablePointer<CChar>?> { unsafe UnsafePointer(start) }
}
