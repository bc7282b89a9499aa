// The inner loops of the fast engines and of random words, once for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/views.hpp"

namespace knnmi {

// A box, or a point, and how far from it others may be.
struct BoxQuery {
    const double* low;  // one value per dimension
    const double* high;
    double radius;
};

inline constexpr std::size_t small_grid_shift = 5;

// A y along the order of a z of one column: ranks[i] is the rank of the i-th point by z among the sorted values of y;
// after them are 64 more. Of a y alone, sorted, z and ranks are null.
//
// Where equal values have ranks of their own, one after another, by_rank is the inverse; else it is null.
//
// A grid has cells of 2^grid_shift points in both orders: row r, column c of it has the number of points in the first r
// cells by z and the first c cells by y. Beside ranks there may be one with small_grid_shift; then by_rank is not null.
// Large ones have one instead of ranks. places[i] is the place of the i-th point by z among the sorted values, equal
// ones one after another, and by_place is the inverse.
struct RankedLine {
    std::size_t points;
    const SortedLevels* y;
    const SortedLevels* z;
    const std::uint16_t* ranks;
    const std::uint16_t* by_rank;
    const std::uint32_t* places;
    const std::uint32_t* by_place;
    const std::uint32_t* grid;  // or null
    std::size_t grid_shift;
    double y_cap, z_cap;
};

// Eight at the same points. Where they are fewer, the last one stands in the other lanes, too.
struct RankedLines {
    const RankedLine* line;
    const BatchCells* cells;  // of the sorted y's
    const double* y_caps;     // null: no categories
};

// Points at which they are counted, block_size at most: eight values of y and eight radii of each.
struct LinePoints {
    std::size_t count;
    const double *y, *z, *radius;  // z may be null where the lines have none
    // Counts in (x, z) for some of the radii, as bits, by a line whose y is x; or null.
    const RankedLine* beside_x = nullptr;
    const double* x = nullptr;
    const unsigned* wanted = nullptr;
};

// The rows by ascending y, eight at least, and where each is in other columns.
struct OrderedRows {
    std::size_t points;
    const double* y;
    const std::uint32_t* rows;
    const std::uint16_t* short_rows;  // instead of the rows, where it is not null
    double y_cap;
    std::span<const double* const> columns;  // each by row
    std::span<const double> caps;            // of these
};

inline constexpr std::size_t place_margin = 8;

// Eight columns that hold the same values, by place of these: of the points that have the value at place p, column c of
// `dimensions` others is at others[8 * (dimensions * p + c)] and the next seven, one for each of the eight. Before and
// after the places there are place_margin more, where y is minus infinity and infinity.
struct PlacedColumns {
    const double* y;  // ascending
    const double* others;
    std::size_t dimensions;
    const double* caps;  // of the others; null: no categories
};

// How many others are near a point in (y, z) and in all columns, of which x is the last.
struct CountsAlongY {
    std::uint32_t yz, joint;
};

inline constexpr std::size_t no_end = static_cast<std::size_t>(-1) / batch_size;  // of what ends a walk

struct LineCounts {
    std::size_t yz, y, z;  // the point itself included; y, if the sorted values are its own
};

// One point against blocks of others, for a single y column; arrays by position.
struct PointQuery {
    const Geometry* geometry;
    const double* x;  // null when x is a coordinate of the geometry
    const double* y;
    double x_cap, y_cap;
    std::size_t self;
    const std::uint32_t* blocks;
    std::size_t block_count;
    double* distances;  // scratch: 3 * block_size for each block
};

struct SingleCounts {
    std::size_t xz, yz, z;  // the point itself included
};

// Points in some order, with their distance from one point.
struct PointDistances {
    double* distance;
    std::uint32_t* position;
};

// Neighbours roughly by distance, in chunks of eight: no distance from chunk c on is below floor[c]. The last chunk
// is filled up with points at infinity, and eight more follow.
//
// They are in buckets, of distances of equal width from `least` on: begin[b] to before begin[b + 1] are in bucket b.
struct NeighborList {
    const double* distance;
    const std::uint32_t* position;
    const double* floor;
    std::size_t chunks;
    const std::uint32_t* begin;
    double least, per_unit, last_bucket;
};

// Eight y columns side by side: value l of position p is values[8 * p + l]. With categories, `caps` has one for each.
struct BatchView {
    const double* values;
    const double* caps;  // null: no categories
    const double* next;  // values of a batch that will be walked next near the same points
};

// Four batches of columns that hold the same values, of no category, or fewer. Column l of them has the value at place
// places[four_batches * p + l] of 2^shift at position p; there are 0s where there is no column.
struct PlacedBatches {
    const std::uint16_t* places;
    std::size_t shift;
    const SortedLevels* sorted;  // the values
    const double* values;        // of the first batch, as in BatchView; the next one has its own `stride` after them
    std::size_t columns, stride;
};

// Points in any order, and how many of some radii are smaller than their distances.
struct RankedPoints {
    const std::uint32_t* position;
    const std::uint16_t* rank;
    std::size_t count;
};

struct BatchNearest {
    unsigned open;
    double largest;
};

struct BatchCounts {
    std::int64_t xz[batch_size], yz[batch_size], z[batch_size];  // the point itself not included
    std::int64_t joint[batch_size];                              // of the mixed estimator only
};

inline constexpr std::size_t batch_step = 4;   // neighbours on one side that are looked at in a row
inline constexpr std::size_t batch_run = 128;  // places whose points are counted at a time

// Points of a plane by their place on one of its axes.
struct PlaneAxis {
    const SortedLevels* sorted;    // the coordinate on this axis, ascending
    const double* values;          // the same, with batch_size infinities of the sign before and after them
    const double* across;          // the other one of each; batch_size more numbers
    const std::uint16_t* crossed;  // its place on the other axis over 2^shift; 32 more that are 0xffff
    const double* root;            // of how far away a point is that is about as near as k-th neighbours lie
    const double* per_root;        // how many places that is, over it
    const double* gap;             // a little more than to the nearest other value where values are equal, else 0
    const std::uint32_t* equal;    // how many others are equal in both coordinates; null without joint counts
    double cap;
};

struct Plane {
    std::size_t points;
    PlaneAxis x, y;
    const std::uint32_t *place_in_x, *place_in_y;  // by place on the other axis
    std::size_t shift;
};

// Of each point: how many others are within its radius on the x axis, on the y axis and on both.
struct PlaneCounts {
    std::uint32_t *x, *y, *joint;
};

// Planes with an axis in common, along which some of the points look for their neighbours. None has categories.
struct PlaneBatch {
    const Plane* planes;
    std::size_t columns;  // batch_size at most
    PlaneAxis Plane::* along;
    const double* across;         // eight columns side by side; batch_step rows more before and after them
    const std::uint8_t* looking;  // by place on that axis, a bit for each plane
    std::size_t most;             // neighbours that are looked at
};

// What one thread needs to go through planes of as many points.
struct PlaneScratch {
    double* distances;  // as many as there are points; of batches batch_size * (most + 2 * batch_step) at least
    double* room;       // 2 * k values
    double scale;       // of the radius that is tried first: learnt from point to point
};

inline constexpr std::size_t most_radii = 32;
inline constexpr std::size_t most_places = 65535;  // that 16 bits tell apart, with one number left for no place

// One of the axes of a space. Within radius l of place p is the window of places from begin[most_radii * p + l] to
// before end[most_radii * p + l].
struct SpaceAxis {
    const SortedLevels* sorted;
    const double* gap;  // by place: to the nearest other value, or infinity
    const std::uint16_t* begin;
    const std::uint16_t* end;
    double cap;
};

// Points by their place in z, most_places at most. After arrays of places there are 64 numbers more.
struct Space {
    std::size_t points;
    const double* radius;   // ascending from 0 to infinity
    std::size_t below_cap;  // the number of the last radius below the cap of a category
    bool categories;        // whether x, z or one of the columns is one
    SpaceAxis x, z;
    const double* x_along_z;
    const std::uint16_t *places_in_x, *z_along_x;  // each the inverse of the other
    const std::uint16_t* enough;  // how wide a window in y must be to hold k neighbours within each radius, likely
    const std::uint32_t *equal, *equal_z;  // how many others are equal in x and z, and in z
};

// A y beside them. Where it is no permutation of the values on its axis, some of these are there twice and some not.
struct SpaceColumn {
    SpaceAxis y;
    const std::uint16_t* places_in_y;                   // by place in z
    const std::uint16_t *z_along_y, *x_places_along_y;  // the places in z and in x of the points in the order of y
    const std::uint16_t* before;                        // for each place in y, how many points have a smaller one
    const std::uint32_t *equal, *equal_yz;  // how many others are equal, and equal in y and z; null where few are
};

// Which points are near one in (x, z), within one of the radii.
struct Disc {
    bool made;
    std::size_t words;
    std::uint32_t* first;   // of each 64 places in z with some, the first
    std::uint64_t* chosen;  // which of them are near
    std::size_t near;       // how many, or more than longest_near
    double* distances;      // of these; in whole eights
    double least, most;     // distance along x or z where it is not 0; most is below 0 where they are not known
};

inline constexpr std::size_t longest_near = 256;
inline constexpr std::size_t most_points = 8;

// What one thread needs for one of the points that it looks at.
struct SpaceScratch {
    double* from_here;  // distances in (x, z) by place in z, where they are known
    double* distances;  // as many as there are points
    double* room;       // 2 * k values
    Disc discs[most_radii];
};

// How many others are within the radius, point after point and for each of the columns.
struct SpaceCounts {
    std::uint32_t *xz, *yz, *z, *joint;
};

inline constexpr std::size_t most_philox_blocks = 16;

struct Kernels {
    const char* name;
    std::size_t most_batched;   // the largest k for plane_batch_within
    std::size_t philox_blocks;  // most_philox_blocks at most

    // Writes the numbers of the boxes within the radius, among those in the listed runs of eight; returns how many.
    std::size_t (*boxes_within)(const Boxes& boxes, std::size_t dimensions, const unsigned char* categories,
                                std::size_t box_count, const BoxQuery& query, const std::uint32_t* runs,
                                std::size_t run_count, std::uint32_t* out);

    // The distance to the k-th neighbour among the query's blocks, infinity if there are fewer; keeps the distances.
    // `room` is for 16 * (k + 1) values.
    double (*nearest)(const PointQuery& query, std::size_t k, double* room);
    // Counts from the distances kept; xz only when x is a coordinate.
    SingleCounts (*counts_within)(const PointQuery& query, double radius);

    // The point itself and those that are within the radius in (x, y, z); reads x or (x, z) from the distances kept.
    std::size_t (*joint_within)(const PointQuery& query, double radius);

    // For each of n values, how many of n sorted ones are smaller; false as soon as one is not among them.
    bool (*rank)(const SortedLevels& sorted, const double* values, std::size_t n, std::uint32_t* out);
    LineCounts (*line_within)(const RankedLine& line, double y, double z, double radius);
    // The same at the first `columns` of eight lines, without the points themselves.
    void (*batch_line_within)(const RankedLines& lines, std::size_t columns, const LinePoints& points,
                              BatchCounts* counts);
    // How many values of each of them, which may be alone, are smaller than the one given.
    void (*batch_smaller)(const RankedLines& lines, std::size_t columns, const double* y, std::uint32_t* out);

    // Of the points from one place on the x axis to before another: counts within the distance to the k-th neighbour
    // times `reach`. The joint counts may be left out.
    void (*plane_within)(const Plane& plane, std::size_t begin, std::size_t end, std::size_t k, double reach,
                         PlaneScratch& scratch, const PlaneCounts& counts);
    // The same for the points of each plane of a batch that look along its axis, from one place there to before
    // another, batch_run at most. They are in any order; writes how many they are. There is room for one count more.
    void (*plane_batch_within)(const PlaneBatch& batch, std::size_t begin, std::size_t end, std::size_t k, double reach,
                               PlaneScratch& scratch, const PlaneCounts* counts, std::size_t* many);

    // How many others are within each radius of one point in (x, z).
    void (*space_near)(const Space& space, std::size_t place, std::size_t radii, std::uint32_t* out);
    // Of points side by side in z, most_points at most, the counts beside each of the columns within the distance to
    // the k-th neighbour times `reach`. Each point has a scratch of its own; the joint counts may be left out.
    void (*space_within)(const Space& space, std::size_t begin, std::size_t points, const SpaceColumn* columns,
                         std::size_t count, std::size_t k, double reach, SpaceScratch* scratch,
                         const SpaceCounts& counts);

    // The other points of the blocks with (x, z) distance and with z distance up to the radius; sizes in found[0],
    // found[1].
    void (*neighbors)(const PointQuery& query, double radius, PointDistances xz, PointDistances z, std::size_t* found);
    // Drops those beyond the limit; returns how many are left.
    std::size_t (*keep_within)(PointDistances found, std::size_t count, double limit);
    // Orders by distance into `buckets` buckets; writes whole chunks and their floors, and where buckets begin.
    NeighborList (*order_by_distance)(PointDistances found, std::size_t count, std::size_t buckets,
                                      std::uint32_t* scratch, PointDistances out, double* floor, std::uint32_t* begin);
    // The distance to the k-th neighbour for each of eight y columns, in the list and among others whose distances are
    // given, eight after eight; for those that are wanted, as bits. `room` is for 16 * k values. With a `patience`, the
    // walk also ends after so many neighbours for each column that needs more. Returns the columns that do, as bits,
    // whose distances may be too large, and the largest of the distances found.
    BatchNearest (*batch_nearest)(const NeighborList& xz, const BatchView& y, std::size_t self,
                                  std::span<const double> others, unsigned wanted, std::size_t k, std::size_t patience,
                                  double* room, double* rho);
    // For each of eight columns, the distance to the k-th neighbour of the point that has the value at a place. The
    // search ends after about `most` places, and returns the columns that need more, as bits. `room` is for 16 * k
    // values.
    unsigned (*nearest_by_place)(const PlacedColumns& columns, std::size_t place, std::size_t most, std::size_t k,
                                 double* room, double* rho);
    // How many others are within eight finite radii of these points, in y and all other columns but the last, and in
    // all.
    void (*within_by_place)(const PlacedColumns& columns, std::size_t place, const double* radius,
                            std::int64_t* but_last, std::int64_t* all);
    // The distance from a row, whose place in y is given, to its k-th neighbour, or the bound where that is less; or -1
    // where it seems that many more than `most` others would have to be looked at. `room` is for 2 * k + 8 values.
    double (*nearest_along)(const OrderedRows& rows, std::size_t row, std::size_t place, double bound, std::size_t most,
                            std::size_t k, double* room);
    // How many others are within the radius.
    CountsAlongY (*within_along)(const OrderedRows& rows, std::size_t row, std::size_t place, double radius);
    // How many points of a geometry are within each of some radii of a center, which are in ascending order, with eight
    // more numbers after them. Boxes that lie within one are counted whole. `out` has room for one more.
    void (*within_boxes)(const Geometry& geometry, std::size_t points, const double* center, const double* radius,
                         std::size_t radii, std::uint32_t* out);
    // Eight distances times `reach`, and the same with -1, which nothing is within, where that is beyond the limit.
    // Written as a whole, they can be read as a whole at once. Returns which ones are beyond it, as bits.
    unsigned (*batch_radii)(const double* rho, double reach, double limit, double* out, double* within_limit);
    // How many in the list are within each of eight radii. Returns where the places that hold them end.
    std::size_t (*batch_within)(const NeighborList& list, const double* radius, std::int64_t* out);
    // How many of the positions from one to before another are within each of eight radii in y.
    void (*batch_within_run)(const BatchView& y, std::size_t self, std::size_t begin, std::size_t end,
                             const double* radius, std::int64_t* out);
    // The same of a list, together with those also within the radius in y.
    void (*batch_within_y)(const NeighborList& list, const BatchView& y, std::size_t self, const double* radius,
                           std::int64_t* in_list, std::int64_t* in_both);

    // How many of the radii in a list are smaller than each of n distances, after which eight more can be read.
    void (*ranks_among)(const NeighborList& radii, const double* distances, std::size_t n, std::uint16_t* out);
    // For each of the columns in four batches, how many of the points have at most its rank and are within its radius
    // in y.
    void (*placed_within)(const RankedPoints& points, const PlacedBatches& y, std::size_t self, const double* radius,
                          const std::uint16_t* rank, std::int64_t* in_both);

    // The four words of each of philox_blocks blocks of Philox4x32-10. The counter has four words, of which the first
    // goes up by one from block to block, and the key two.
    void (*philox)(const std::uint32_t* counter, const std::uint32_t* key, std::uint32_t* out);
};

// The sets that this processor has, the widest last.
std::span<const Kernels* const> usable_kernels();

// The widest of them, or the one that KNNMI_INSTRUCTION_SET (plain, avx2, avx512) named when it was first needed.
// Another value is an UnusableInstructionSet.
const Kernels& kernels();

}  // namespace knnmi
