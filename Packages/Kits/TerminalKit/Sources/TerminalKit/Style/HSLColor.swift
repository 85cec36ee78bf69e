/// A colour as hue in degrees, saturation and lightness in percent.
public struct HSLColor: Sendable, Hashable {
    /// 0 is red, 120 green, 240 blue.
    public var hue: Int
    /// 0 is grey, 100 the pure colour.
    public var saturation: Int
    /// 0 is black, 100 white.
    public var lightness: Int

    /// A colour; values outside their ranges are brought inside.
    public init(_ hue: Int, _ saturation: Int, _ lightness: Int) {
        self.hue = ((hue % 360) + 360) % 360
        self.saturation = min(100, max(0, saturation))
        self.lightness = min(100, max(0, lightness))
    }
}

extension HSLColor {
    /// The parts of a 24-bit colour, each up to 255.
    var rgb: (red: Int, green: Int, blue: Int) {
        let light = Double(lightness) / 100
        let amount = Double(saturation) / 100 * min(light, 1 - light)
        func part(_ offset: Double) -> Int {
            let turn = (offset + Double(hue) / 30).truncatingRemainder(dividingBy: 12)
            return Int(((light - amount * max(-1, min(turn - 3, 9 - turn, 1))) * 255).rounded())
        }
        return (part(0), part(8), part(4))
    }

    /// The nearest of xterm's 6×6×6 cube and 24 greys.
    var xterm256: Int {
        let (red, green, blue) = rgb
        let levels = [0, 95, 135, 175, 215, 255]
        func nearest(_ value: Int) -> Int {
            levels.indices.min { abs(levels[$0] - value) < abs(levels[$1] - value) } ?? 0
        }
        func distance(_ other: (Int, Int, Int)) -> Int {
            let (r, g, b) = (red - other.0, green - other.1, blue - other.2)
            return r * r + g * g + b * b
        }
        let cube = (nearest(red), nearest(green), nearest(blue))
        let step = min(23, max(0, ((red + green + blue) / 3 - 3) / 10))
        let grey = 8 + 10 * step
        let isGreyNearer = distance((grey, grey, grey)) < distance((levels[cube.0], levels[cube.1], levels[cube.2]))
        return isGreyNearer ? 232 + step : 16 + 36 * cube.0 + 6 * cube.1 + cube.2
    }

    /// The SGR parameter of a colour that the person's own terminal theme keeps legible.
    func ansi16(isLight: Bool = false) -> Int {
        guard saturation >= 40 else { return (isLight ? lightness <= 30 : lightness >= 70) ? 39 : 90 }
        return switch hue {
        // Few terminals have a yellow that can be read on white.
        case 30..<90: isLight ? 35 : 33
        case 90..<150: 32
        case 150..<210: 36
        case 210..<270: 34
        case 270..<330: 35
        default: 31
        }
    }
}
