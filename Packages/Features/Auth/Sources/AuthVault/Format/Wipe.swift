import Glibc

extension [UInt8] {
    /// Overwrites the bytes for good; the compiler must not leave this out, as it may with plain assignments.
    mutating func wipe() {
        unsafe withUnsafeMutableBytes { buffer in
            if let start = buffer.baseAddress { unsafe explicit_bzero(start, buffer.count) }
        }
    }
}
