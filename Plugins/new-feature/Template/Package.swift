// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Weather",
    products: [.library(name: "Weather", targets: ["Weather"])],
    dependencies: [
        .package(path: "../../Core"),
        //# http
        .package(path: "../../Kits/HTTPKit"),
        //# storage
        .package(path: "../../Kits/StorageKit"),
        //# http|storage|secret|background
        .package(path: "../../Frontends/Host"),
        //#
    ],
    targets: [
        .target(
            name: "Weather",
            dependencies: [
                .product(name: "Core", package: "Core"),
                //# http
                .product(name: "HTTPKit", package: "HTTPKit"),
                //# storage
                .product(name: "StorageKit", package: "StorageKit"),
                //#
            ]),
        .testTarget(
            name: "WeatherTests",
            dependencies: [
                "Weather",
                .product(name: "Core", package: "Core"),
                .product(name: "CoreTesting", package: "Core"),
                //# http
                .product(name: "HTTPTesting", package: "HTTPKit"),
                //# http|storage|secret|background
                .product(name: "HostKit", package: "Host"),
                .product(name: "HostTesting", package: "Host"),
                //#
            ]),
    ]
)

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
