import Glibc

/// Addresses in numbers, as the C library reads them. No name is looked up.
enum NumericAddress {
    /// Whether a name can only be an address.
    static func looksLikeOne(_ name: String) -> Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return name.utf8.contains(UInt8(ascii: "%")) || name.utf8.contains(UInt8(ascii: ":"))
            || name.utf8.allSatisfy { digits.contains($0) || $0 == UInt8(ascii: ".") }
    }

    /// The usual form of an address: `::1` for `0:0::1`. Nil if it is none of the family.
    static func usualForm(_ name: String, family: AddressFamily) -> String? {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = family.number
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(name, "22", &hints, &found) == 0, let first = unsafe found else { return nil }
        defer { unsafe freeaddrinfo(first) }
        guard unsafe first.pointee.ai_next == nil else { return nil }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let result = unsafe getnameinfo(
            first.pointee.ai_addr, first.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        guard result == 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The name as ssh connects to it: an address in its usual form, and a name with small letters.
    static func connected(_ name: String, family: AddressFamily) -> String {
        guard let usual = usualForm(name, family: family) else {
            return looksLikeOne(name) ? name : ASCII.lowercased(name)
        }
        return ASCII.lowercased(usual) == ASCII.lowercased(name) ? name : usual
    }
}

/// The addresses that are connected to.
public enum AddressFamily: String, Sendable, Hashable {
    /// By IPv4 and IPv6.
    case any
    /// By IPv4 only.
    case inet
    /// By IPv6 only.
    case inet6

    var number: Int32 {
        switch self {
        case .any: AF_UNSPEC
        case .inet: AF_INET
        case .inet6: AF_INET6
        }
    }
}
