// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Weather",
    products: [.library(name: "Weather", targets: ["Weather"])],
    dependencies: [.package(path: "../../Core")],
    targets: [
        .target(name: "Weather", dependencies: [.product(name: "Core", package: "Core")]),
        .testTarget(
            name: "WeatherTests",
            dependencies: [
                "Weather",
                .product(name: "Core", package: "Core"),
                .product(name: "CoreTesting", package: "Core"),
            ]),
    ]
)

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
