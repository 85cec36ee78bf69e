/// A fast, correctly rounded conversion of common decimal numbers to doubles.
enum JSONDecimal {
    /// The most digits that always fit in the magnitude.
    static let mostDigits = 19

    /// The powers of ten that a double can hold exactly.
    private static let exactPowers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
        1e19, 1e20, 1e21, 1e22,
    ]

    /// The powers of five that fit in 64 bits.
    private static let powersOfFive: [UInt64] = [
        1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1_953_125, 9_765_625, 48_828_125, 244_140_625,
        1_220_703_125, 6_103_515_625, 30_517_578_125, 152_587_890_625, 762_939_453_125, 3_814_697_265_625,
        19_073_486_328_125, 95_367_431_640_625, 476_837_158_203_125, 2_384_185_791_015_625,
        11_920_928_955_078_125, 59_604_644_775_390_625, 298_023_223_876_953_125, 1_490_116_119_384_765_625,
        7_450_580_596_923_828_125,
    ]

    /// The double nearest to `magnitude` times ten to the `scale`. Nil if that would take more than 128 bits.
    static func double(_ magnitude: UInt64, scale: Int) -> Double? {
        if magnitude >> 53 == 0, -22...22 ~= scale {
            // Both operands are exact, so the result is rounded only once.
            let value = Double(magnitude)
            return scale < 0 ? value / exactPowers[-scale] : value * exactPowers[scale]
        }
        guard -27...27 ~= scale, magnitude != 0 else { return nil }
        return scale < 0 ? divide(magnitude, tensPower: -scale) : multiply(magnitude, tensPower: scale)
    }

    /// Divides by a power of ten. The quotient has at least 62 bits; of the remainder only whether it is zero matters.
    private static func divide(_ magnitude: UInt64, tensPower: Int) -> Double {
        let divisor = powersOfFive[tensPower]
        let shift = magnitude.leadingZeroBitCount
        let divisorShift = divisor.leadingZeroBitCount
        let high = magnitude << UInt64(shift)
        let (quotient, remainder) = (divisor << UInt64(divisorShift)).dividingFullWidth((high >> 1, high << 63))
        return scaled(quotient | (remainder == 0 ? 0 : 1), by: divisorShift - shift - 63 - tensPower)
    }

    /// Multiplies by a power of ten in 128 bits and keeps the upper 64. Of the rest only whether it is zero matters.
    private static func multiply(_ magnitude: UInt64, tensPower: Int) -> Double {
        let (high, low) = magnitude.multipliedFullWidth(by: powersOfFive[tensPower])
        if high == 0 { return scaled(low, by: tensPower) }
        let shift = UInt64(high.leadingZeroBitCount)
        let upper = shift == 0 ? high : high << shift | low >> (64 - shift)
        return scaled(upper | (low << shift == 0 ? 0 : 1), by: tensPower + 64 - Int(shift))
    }

    /// Rounds to 53 bits, then scales by a power of two, which is exact in this range.
    private static func scaled(_ bits: UInt64, by exponent: Int) -> Double {
        Double(bits) * Double(bitPattern: UInt64(1023 + exponent) << 52)
    }
}
