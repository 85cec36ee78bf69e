import Glibc

/// libtermkey, which decodes the keys of terminals independently.
@safe final class TermKey {
    private typealias Make = @convention(c) (UnsafePointer<CChar>, CInt) -> OpaquePointer?
    private typealias Push = @convention(c) (OpaquePointer, UnsafePointer<CChar>, Int) -> Int
    private typealias Take = @convention(c) (OpaquePointer, UnsafeMutableRawPointer) -> CInt
    private typealias Describe =
        @convention(c) (
            OpaquePointer, UnsafeMutablePointer<CChar>, Int, UnsafeMutableRawPointer, CInt
        ) -> Int
    private typealias Free = @convention(c) (OpaquePointer) -> Void

    static var isInstalled: Bool { TermKey() != nil }

    private let library: UnsafeMutableRawPointer
    private let terminal: OpaquePointer

    init?() {
        // TERMKEY_FLAG_CONVERTKP, UTF8, NOTERMIOS and SPACESYMBOL.
        let flags: CInt = 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5
        guard let library = unsafe dlopen("libtermkey.so.1", RTLD_NOW) else { return nil }
        guard let make = unsafe dlsym(library, "termkey_new_abstract"),
            let terminal = unsafe unsafeBitCast(make, to: Make.self)("xterm-256color", flags)
        else {
            unsafe dlclose(library)
            return nil
        }
        unsafe (self.library, self.terminal) = (library, terminal)
    }

    deinit {
        if let free = unsafe dlsym(library, "termkey_destroy") { unsafe unsafeBitCast(free, to: Free.self)(terminal) }
        unsafe dlclose(library)
    }

    /// The names of the keys in `bytes`, after which nothing follows.
    func keys(_ bytes: [UInt8]) -> String {
        guard let push = unsafe dlsym(library, "termkey_push_bytes"),
            let take = unsafe dlsym(library, "termkey_getkey_force"),
            let describe = unsafe dlsym(library, "termkey_strfkey")
        else { return "libtermkey lacks a function" }
        let input = bytes.map { CChar(bitPattern: $0) }
        _ = unsafe unsafeBitCast(push, to: Push.self)(terminal, input, input.count)
        var keys: [String] = []
        // More than its TermKeyKey takes.
        var key = [UInt64](repeating: 0, count: 16)
        unsafe key.withUnsafeMutableBytes { key in
            guard let key = key.baseAddress else { return }
            // TERMKEY_RES_KEY
            while unsafe unsafeBitCast(take, to: Take.self)(terminal, key) == 1 {
                var name = [CChar](repeating: 0, count: 64)
                // TERMKEY_FORMAT_LONGMOD
                _ = unsafe unsafeBitCast(describe, to: Describe.self)(terminal, &name, name.count, key, 1)
                keys.append(String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
            }
        }
        return keys.joined(separator: ", ")
    }
}
