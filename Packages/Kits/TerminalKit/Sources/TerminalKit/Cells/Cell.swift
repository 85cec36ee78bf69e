/// One cell of a buffer in eight bytes, so that two of them are compared at once.
///
/// What it shows is a scalar, or the number of a longer cluster in the buffer's table. The right half of a wide cell
/// shows nothing and has no width.
struct Cell: Equatable, Sendable {
    private var bits: UInt64

    private static let clusterMark: UInt32 = 1 << 31

    /// A cell that shows one scalar.
    init(scalar: UInt32, style: UInt16, width: Int, isDoubtful: Bool = false) {
        bits = UInt64(scalar) | UInt64(style) << 32 | UInt64(width) << 48 | (isDoubtful ? 1 << 56 : 0)
    }

    /// A cell that shows a cluster of the buffer's table.
    init(cluster: UInt32, style: UInt16, width: Int, isDoubtful: Bool) {
        self.init(scalar: cluster | Self.clusterMark, style: style, width: width, isDoubtful: isDoubtful)
    }

    /// An empty cell as the terminal erases it.
    static let blank = Cell(scalar: 0x20, style: 0, width: 1)

    /// A space in a style.
    static func space(_ style: UInt16) -> Cell { Cell(scalar: 0x20, style: style, width: 1) }

    /// The second half of a wide cell.
    static func rightHalf(_ style: UInt16) -> Cell { Cell(scalar: 0, style: style, width: 0) }

    /// The scalar, unless it shows a longer cluster.
    var scalar: UInt32? { isCluster ? nil : content }

    /// The number of the cluster, if it shows one.
    var cluster: UInt32? { isCluster ? content & ~Self.clusterMark : nil }

    /// The number of the style.
    var style: UInt16 {
        get { UInt16(truncatingIfNeeded: bits >> 32) }
        set { bits = bits & ~(0xFFFF << 32) | UInt64(newValue) << 32 }
    }

    /// The columns it takes; none for the right half of a wide cell.
    var width: Int { Int(bits >> 48 & 0xFF) }

    /// Whether terminals disagree about its width.
    var isDoubtful: Bool { bits >> 56 != 0 }

    var isSpace: Bool { content == 0x20 }
    var isRightHalf: Bool { bits >> 48 & 0xFF == 0 }
    var isPrintableASCII: Bool { content >= 0x20 && content < 0x7F }

    /// For hashing a row.
    var word: UInt64 { bits }

    /// The same cell with another cluster.
    func with(cluster: UInt32) -> Cell {
        Cell(cluster: cluster, style: style, width: width, isDoubtful: isDoubtful)
    }

    private var content: UInt32 { UInt32(truncatingIfNeeded: bits) }
    private var isCluster: Bool { content & Self.clusterMark != 0 }
}
