/// Whether a value matches a subschema. What is not checked makes it open, so that `not` and `anyOf` stay right.
enum CheckOutcome: UInt8, Comparable {
    case no
    case maybe
    case yes

    static func < (left: CheckOutcome, right: CheckOutcome) -> Bool { left.rawValue < right.rawValue }

    /// Yes for no, and no for yes.
    var opposite: CheckOutcome {
        switch self {
        case .no: .yes
        case .maybe: .maybe
        case .yes: .no
        }
    }

    /// Whether a number of parts is in a range, if some more parts may belong to it.
    init(_ certain: Int, orMore open: Int, from least: Int, through most: Int) {
        if certain > most || certain + open < least {
            self = .no
        } else {
            self = certain >= least && certain + open <= most ? .yes : .maybe
        }
    }
}
