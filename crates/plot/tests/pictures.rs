//! Decodes PNG files that the crate makes, and checks their pixels.

use backends_plot::{CYCLE, Error, MISSING, prelude::*};
use ndarray::{Array2, Array3, ArrayD, Axis, arr1, arr2};

type Rgb = [u8; 3];

/// A decoded PNG file.
struct Decoded {
    width: usize,
    height: usize,
    pixels: Vec<Rgb>,
}

/// A rectangle: its left and top pixel, its width and its height.
type Area = [usize; 4];

impl Decoded {
    fn of(bytes: &[u8]) -> Decoded {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut buffer).unwrap();
        let pixels = buffer[..info.buffer_size()].chunks(3).map(|p| [p[0], p[1], p[2]]).collect();
        Decoded { width: info.width as usize, height: info.height as usize, pixels }
    }

    fn at(&self, x: usize, y: usize) -> Rgb {
        self.pixels[y * self.width + x]
    }

    fn count(&self, color: Rgb) -> usize {
        self.pixels.iter().filter(|pixel| **pixel == color).count()
    }

    /// The smallest rectangle that contains all pixels of some colours.
    fn area(&self, colors: &[Rgb]) -> Area {
        let places = (0..self.pixels.len()).filter(|k| colors.contains(&self.pixels[*k]));
        let places: Vec<_> = places.map(|k| [k % self.width, k / self.width]).collect();
        assert!(!places.is_empty(), "none of the colours {colors:?} is in the picture");
        let [least, most] = [0, 1].map(|axis| {
            let values = || places.iter().map(|place| place[axis]);
            [values().min().unwrap(), values().max().unwrap()]
        });
        [least[0], most[0], least[1] - least[0] + 1, most[1] - most[0] + 1]
    }

    /// The number of pixels in a rectangle that are darker than the lightest text.
    fn ink(&self, [left, top, width, height]: Area) -> usize {
        let places = (top..top + height).flat_map(|y| (left..left + width).map(move |x| (x, y)));
        places.filter(|(x, y)| self.at(*x, *y).iter().all(|part| *part < 130)).count()
    }
}

fn decoded(axes: Axes) -> Decoded {
    Decoded::of(&axes.png().unwrap())
}

/// A plot without numbers, whose image is at a known place: its left and top edge are 16 and 23 pixels from the edges
/// of the picture.
fn bare(axes: Axes, width: u32, height: u32) -> Decoded {
    decoded(axes.no_ticks().no_colorbar().size(width, height))
}

const LEFT: usize = 16;
const TOP: usize = 23;

#[test]
fn each_value_has_its_color_at_its_place() {
    let picture = bare(imshow(&arr2(&[[0_u8, 255], [51, 102]])).cmap(ColorMap::gray()), 100, 100);
    for (x, y, value) in [(0, 0, 0), (1, 0, 255), (0, 1, 51), (1, 1, 102)] {
        for (dx, dy) in [(2, 2), (25, 25), (47, 47)] {
            let color = picture.at(LEFT + 50 * x + dx, TOP + 50 * y + dy);
            assert_eq!(color, [value; 3], "row {y}, column {x}");
        }
    }
    assert_eq!((picture.width, picture.height), (100 + 2 * LEFT, 100 + 2 * TOP));
    assert_eq!(picture.at(0, 0), [255; 3]);
}

#[test]
fn row_0_is_at_the_top_or_at_the_bottom() {
    let ramp = arr2(&[[0.0], [1.0]]);
    let map = ColorMap::viridis();
    let upper = bare(imshow(&ramp), 50, 100);
    assert_eq!([upper.at(LEFT + 20, TOP + 20), upper.at(LEFT + 20, TOP + 80)], [map.at(0.0), map.at(1.0)]);
    let lower = bare(imshow(&ramp).origin_lower(), 50, 100);
    assert_eq!([lower.at(LEFT + 20, TOP + 20), lower.at(LEFT + 20, TOP + 80)], [map.at(1.0), map.at(0.0)]);
    // as in matplotlib, an extent does not move row 0 to the other end
    let moved = bare(imshow(&ramp).extent([0.0, 1.0, 0.0, 2.0]), 50, 100);
    assert_eq!(moved.at(LEFT + 20, TOP + 20), map.at(0.0));
    // the vertical axis is turned
    let turned = bare(imshow(&ramp).ylim(-0.5, 1.5), 50, 100);
    assert_eq!(turned.at(LEFT + 20, TOP + 20), map.at(1.0));
}

#[test]
fn every_real_dtype_is_drawn_alike() {
    let reference = imshow(&arr2(&[[0.0, 1.0], [1.0, 0.0]])).size(60, 60).png().unwrap();
    macro_rules! same {
        ($($type:ty)*) => {
            $(assert_eq!(imshow(&arr2(&[[0 as $type, 1 as $type], [1 as $type, 0 as $type]])).size(60, 60).png().unwrap(), reference);)*
        };
    }
    same!(f32 u8 u16 u32 u64 usize i8 i16 i32 i64 isize);
    assert_eq!(imshow(&arr2(&[[false, true], [true, false]])).size(60, 60).png().unwrap(), reference);
    // arrays of any memory order, and of a dynamic number of axes
    let array = arr2(&[[0.0, 1.0], [1.0, 0.0]]);
    assert_eq!(imshow(&array.t()).size(60, 60).png().unwrap(), reference);
    assert_eq!(imshow(&array.clone().into_dyn().into_shared()).size(60, 60).png().unwrap(), reference);
    assert_eq!(imshow(&array.slice(ndarray::s![..;-1, ..;-1])).size(60, 60).png().unwrap(), reference);
}

#[test]
fn colors_are_integers_or_floats() {
    let integers = Array3::from_shape_fn((1, 2, 3), |(_, j, k)| [[255_u8, 0, 51], [0, 102, 255]][j][k]);
    let picture = bare(imshow(&integers), 100, 50);
    assert_eq!([picture.at(LEFT + 20, TOP + 20), picture.at(LEFT + 80, TOP + 20)], [[255, 0, 51], [0, 102, 255]]);
    let floats = integers.mapv(|v| f32::from(v) / 255.0);
    assert_eq!(bare(imshow(&floats), 100, 50).pixels, picture.pixels);
    // half of the opacity, on white
    let mut faint = Array3::from_elem((1, 1, 4), 0.0);
    faint[[0, 0, 3]] = 0.5;
    assert_eq!(bare(imshow(&faint), 50, 50).at(LEFT + 20, TOP + 20), [128; 3]);
    // colours have no colour bar
    assert!(decoded(imshow(&integers).size(100, 50)).width < 180);
}

#[test]
fn values_that_are_not_finite_are_drawn() {
    let array = arr2(&[[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, 1.0]]);
    let map = ColorMap::viridis();
    let picture = bare(imshow(&array), 250, 50);
    let colors = [0, 1, 2, 3, 4].map(|k| picture.at(LEFT + 25 + 50 * k, TOP + 25));
    assert_eq!(colors, [MISSING, map.at(1.0), map.at(0.0), map.at(0.0), map.at(1.0)]);
    let missing = Array2::from_elem((3, 3), f32::NAN);
    let why = imshow(&missing).png().unwrap_err();
    assert!(matches!(why, Error::NothingToDraw { call: "imshow", .. }), "{why}");
    assert_eq!(bare(imshow(&missing).range(0.0, 1.0), 50, 50).at(LEFT + 25, TOP + 25), MISSING);
    let negative = imshow(&arr2(&[[-1.0, 0.0]])).log_colors().png().unwrap_err();
    assert_eq!(negative.to_string(), "imshow: none of the values is positive");
    let mixed = bare(imshow(&arr2(&[[-1.0, 0.01, 1.0]])).log_colors(), 150, 50);
    let colors = [0, 1, 2].map(|k| mixed.at(LEFT + 25 + 50 * k, TOP + 25));
    assert_eq!(colors, [MISSING, map.at(0.0), map.at(1.0)]);
}

#[test]
fn the_color_bar_is_near_its_image_and_has_numbers_and_a_label() {
    let array = Array2::from_shape_fn((40, 40), |(i, j)| (i + j) as f64);
    let axes = || imshow(&array).cmap(ColorMap::from_colors(&[[255, 0, 0], [0, 0, 255]]).unwrap()).size(300, 300);
    let (plain, labelled) = (decoded(axes()), decoded(axes().label("height (m)")));
    let none = decoded(axes().no_colorbar());
    // the ends of the bar are at the right of the image, in the last and the first colour
    for picture in [&plain, &labelled] {
        let bar = [none.width, 0, 30, picture.height];
        let column = |y| picture.at(bar[0] + 16, y);
        let colored: Vec<usize> = (0..picture.height).filter(|y| column(*y)[1] == 0 && column(*y) != [0; 3]).collect();
        assert!((290..=300).contains(&colored.len()), "{} pixels", colored.len());
        let (top, bottom) = (column(colored[0]), column(colored[colored.len() - 1]));
        assert!(top[2] > 245 && bottom[0] > 245, "{top:?} {bottom:?}");
    }
    // numbers are directly at the right of the bar, and the label within 60 pixels
    assert!(plain.ink([none.width + 26, 0, plain.width - none.width - 26, plain.height]) > 50);
    let more = labelled.width - plain.width;
    assert!((20..40).contains(&more), "the label takes {more} pixels");
    assert!(labelled.ink([plain.width - 12, 0, more, labelled.height]) > 100);
}

#[test]
fn a_pointed_end_shows_values_beyond_the_range() {
    let array = arr2(&[[0.0, 1.0, 2.0]]);
    let map = || ColorMap::from_colors(&[[255, 0, 0], [255, 0, 0]]).unwrap();
    let bar = |from, to| {
        let image = imshow(&array).cmap(map()).range(from, to).aspect_auto().size(100, 200);
        let picture = decoded(image.no_ticks());
        // the width of the bar at each of its rows
        let rows: Vec<usize> = (0..picture.height)
            .map(|y| (120..picture.width).filter(|x| picture.at(*x, y) == [255, 0, 0]).count())
            .filter(|count| *count > 0)
            .collect();
        [rows[0] < 8, rows[rows.len() - 1] < 8]
    };
    assert_eq!(bar(0.0, 2.0), [false, false]);
    assert_eq!(bar(0.5, 2.0), [false, true]);
    assert_eq!(bar(0.0, 1.5), [true, false]);
    assert_eq!(bar(0.5, 1.5), [true, true]);
}

#[test]
fn large_arrays_are_averaged_and_small_ones_are_enlarged() {
    let checkers = Array2::from_shape_fn((1000, 1000), |(i, j)| u8::from((i + j) % 2 == 0));
    let picture = bare(imshow(&checkers).cmap(ColorMap::gray()), 100, 100);
    assert!((0..100).all(|k| picture.at(LEFT + k, TOP + 99 - k) == [128; 3]));
    let huge = Array2::from_shape_fn((2, 20_000), |(_, j)| j as f32);
    assert!(imshow(&huge).png().is_ok());
    // an array of one element, and constant arrays
    let map = ColorMap::viridis();
    for value in [0.0, -3.0, 1e300, 5e-324] {
        let picture = bare(imshow(&arr2(&[[value; 3]; 3])), 60, 60);
        assert_eq!(picture.at(LEFT + 30, TOP + 30), map.at(0.5), "{value}");
        assert!(imshow(&arr2(&[[value]])).png().is_ok());
    }
    assert!(imshow(&arr2(&[[f64::MIN, f64::MAX]])).png().is_ok());
    assert!(imshow(&arr2(&[[f64::MAX]])).png().is_ok());
}

#[test]
fn a_curve_is_where_its_points_are() {
    let axes = plot(&[0.0, 10.0], &[5.0, 5.0]).xlim(0.0, 10.0).ylim(0.0, 10.0).no_ticks().size(200, 100);
    let picture = decoded(axes);
    let [left, bottom, width, height] = picture.area(&[CYCLE[0]]);
    assert!((198..=203).contains(&width) && height <= 3, "{width} {height}");
    assert!(left.abs_diff(LEFT) <= 1 && bottom.abs_diff(TOP + 50) <= 2, "{left} {bottom}");
    // NaN is a gap
    let x: Vec<f64> = (0..=4).map(f64::from).collect();
    let gap =
        |middle: f64| decoded(plot(&x, &[1.0, 1.0, middle, 1.0, 1.0]).ylim(0.0, 2.0).size(200, 100)).count(CYCLE[0]);
    assert!(gap(f64::NAN) < gap(1.0) * 2 / 3);
}

#[test]
fn logarithmic_axes_have_equal_distances_for_equal_factors() {
    let axes = scatter(&[1.0, 10.0, 100.0], &[1e-3, 1e0, 1e3]).log_x().log_y().size(300, 300).no_ticks();
    let picture = decoded(axes.size_of_marks(9.0));
    // the middle point of the data is in the middle of the plot
    assert_eq!(picture.at(LEFT + 150, TOP + 150), CYCLE[0]);
    let dropped = plot(&[1.0, 2.0, 3.0], &[-1.0, 0.0, 5.0]).log_y();
    assert!(dropped.png().is_ok());
    let why = plot(&[1.0, 2.0], &[-1.0, 0.0]).log_y().png().unwrap_err();
    assert_eq!(why.to_string(), "log_y: none of the values is positive");
    assert!(plot(&[1.0], &[1.0]).log_x().xlim(-1.0, 1.0).png().is_err());
}

#[test]
fn the_legend_has_names_and_keeps_away_from_the_curves() {
    let x = [0.0, 1.0];
    let axes = || plot(&x, &[0.0, 1.0]).size(400, 300).no_ticks();
    let (without, with) = (decoded(axes()), decoded(axes().label("a rising curve")));
    let upper_left = [LEFT + 2, TOP + 2, 180, 50];
    assert_eq!(without.ink(upper_left), 0);
    assert!(with.ink(upper_left) > 50, "the upper left corner is free, so it has the legend");
    assert!(with.count(CYCLE[0]) > without.count(CYCLE[0]));
    // many names are cut
    let many = (0..100).fold(Axes::new(), |axes, k| axes.plot(&x, &[f64::from(k); 2]).label(format!("curve {k}")));
    assert!(many.png().is_ok());
    assert_eq!(plot(&x, &x).label("").png().unwrap(), plot(&x, &x).png().unwrap());
}

#[test]
fn the_bars_of_a_histogram_have_the_counts_as_heights() {
    let picture =
        decoded(hist(&[0.0, 0.1, 0.2, 0.9, 1.0, f64::NAN], 2).ylim(0.0, 4.0).xlim(0.0, 1.0).no_ticks().size(100, 100));
    let height = |x: usize| (0..picture.height).filter(|y| picture.at(x, *y) == CYCLE[0]).count();
    assert_eq!([height(LEFT + 25), height(LEFT + 75)], [75, 50]);
    assert!(hist(&Array3::<f32>::zeros((2, 3, 4)), 5).log_y().png().is_ok());
}

#[test]
fn titles_names_and_numbers_take_space_and_are_not_cut() {
    let axes = || plot(&[0.0, 1e7], &[-1e-9, 1e-9]).size(200, 150);
    let plain = decoded(axes());
    let long = "a title that is far longer than the plot that it belongs to";
    let titled = decoded(axes().title(long).xlabel("time (s)").ylabel("a very long name of the vertical axis"));
    // the plot has 200 x 150 pixels
    assert!(titled.width > 500 && titled.height > 300, "{} {}", titled.width, titled.height);
    // nothing touches the edges of the picture
    for picture in [plain, titled] {
        let (w, h) = (picture.width, picture.height);
        let edges = [[0, 0, w, 4], [0, h - 4, w, 4], [0, 0, 4, h], [w - 4, 0, 4, h]];
        assert_eq!(edges.map(|edge| picture.ink(edge)), [0; 4]);
    }
    assert!(axes().title("line\nbreak \u{0} 漢字 ".repeat(100)).png().is_ok());
}

#[test]
fn figures_have_a_place_for_each_plot() {
    let image = |value: f64| imshow(&arr2(&[[value, 1.0], [0.5, 0.0]])).no_colorbar().no_ticks().size(100, 100);
    let figure = subplots(2, 3).at(0, 0, image(0.25)).at(1, 2, image(0.75)).title("two of six");
    let picture = Decoded::of(&figure.png().unwrap());
    let map = ColorMap::viridis();
    let [first, second] = [0.25, 0.75].map(|value| picture.area(&[map.at(value)]));
    assert!(first[0] + 100 < second[0] && first[1] + 100 < second[1]);
    let replaced = subplots(1, 1).at(0, 0, image(0.25)).at(0, 0, image(0.75));
    assert_eq!(Decoded::of(&replaced.png().unwrap()).count(map.at(0.25)), 0);
    assert!(matches!(subplots(1, 1).at(1, 0, image(0.0)).png(), Err(Error::Argument { call: "at", .. })));
    assert!(matches!(subplots(0, 3).png(), Err(Error::Size { .. })));
    assert!(subplots(1, 2).png().is_ok());
}

#[test]
fn images_have_common_colors_and_scales() {
    let image = |most: f64, n: usize| imshow(&Array2::from_shape_fn((n, n), |(i, _)| most * i as f64)).size(200, 200);
    let figure = |a: Axes, b: Axes| subplots(1, 2).at(0, 0, a.no_ticks()).at(0, 1, b.no_ticks());
    let map = ColorMap::viridis();
    let separate = Decoded::of(&figure(image(1.0, 2), image(4.0, 4)).png().unwrap());
    let common = Decoded::of(&figure(image(1.0, 2), image(4.0, 4)).common_colors().same_scale().png().unwrap());
    // 1 is a twelfth of the range from 0 to 12, and the smaller image has half of the size
    assert!(common.width < separate.width - 100);
    assert_eq!(common.at(LEFT + 50, common.height / 2 + 25), map.at(1.0 / 12.0));
    let ranged = figure(image(1.0, 2).range(0.0, 2.0), image(4.0, 4)).common_colors();
    assert_eq!(Decoded::of(&ranged.png().unwrap()).at(LEFT + 50, 200), map.at(0.5));
}

#[test]
fn marks_lie_over_images() {
    let field = Array2::from_shape_fn((20, 20), |(i, j)| (i * j) as f64);
    let axes = imshow(&field).scatter(&[10], &[5]).size_of_marks(12.0).color([255, 0, 255]);
    let picture = bare_with_points(axes);
    assert_eq!(picture.at(LEFT + 105, TOP + 55), [255, 0, 255]);
    let ring = bare_with_points(imshow(&field).scatter(&[10.0], &[5.0]).rings());
    assert_eq!(ring.at(LEFT + 105 - 9, TOP + 55), [255; 3]);
    assert_ne!(ring.at(LEFT + 105, TOP + 55), [255; 3]);
}

fn bare_with_points(axes: Axes) -> Decoded {
    decoded(axes.no_ticks().size(200, 200))
}

#[test]
fn wrong_arguments_are_errors_that_name_the_call() {
    let say = |axes: Axes| axes.png().unwrap_err().to_string();
    let none: [f64; 0] = [];
    for (axes, text) in [
        (
            imshow(&arr1(&[1.0])),
            "imshow: the array must have 2 axes (rows and columns), or 3 axes of which the last one \
          has the length 3 or 4, but it has the shape [1]",
        ),
        (imshow(&Array2::<u8>::zeros((3, 0))), "imshow: the array has no elements"),
        (imshow(&ArrayD::<u8>::zeros(vec![0, 2, 3])), "imshow: the array has no elements"),
        (plot(&[1, 2], &[1]), "plot: x and y must have the same length, but x has the shape [2] and y the shape [1]"),
        (plot(&none, &none), "plot: the array has no elements"),
        (plot_y(&[f32::NAN]), "plot_y: none of the values is finite"),
        (scatter(&arr2(&[[1.0]]), &[1.0]), "scatter: the array must have 1 axis, but it has the shape [1, 1]"),
        (hist(&[1.0], 0), "hist: the number of bins must be between 1 and 100000, but it is 0"),
        (hist(&none, 3), "hist: the array has no elements"),
        (plot_y(&[1.0]).cmap(ColorMap::gray()), "cmap: this option must follow a call of imshow"),
        (Axes::new().label("a"), "label: this option must follow a call of imshow, plot, scatter or hist"),
        (plot_y(&[1.0]).xlim(0.0, f64::NAN), "xlim: the two ends must be finite, but they are 0 and NaN"),
        (imshow(&arr2(&[[1.0]])).extent([0.0, 0.0, 0.0, 1.0]), "extent: the two ends must differ, but both are 0"),
        (plot_y(&[1.0]).size(0, 5), "draw: a picture must have between 1 and 40000000 pixels, but it would have 0 x 5"),
        // the first error of a chain is returned
        (plot_y(&none).label("a").cmap(ColorMap::gray()), "plot_y: the array has no elements"),
    ] {
        assert_eq!(say(axes), text);
    }
    assert!(matches!(plot_y(&[1.0]).size(u32::MAX, u32::MAX).png(), Err(Error::Size { .. })));
    let why = plot_y(&[1.0]).save("no/such/folder/a.png").unwrap_err();
    assert!(why.to_string().starts_with("save: cannot write to no/such/folder/a.png: "), "{why}");
    assert!(std::error::Error::source(&why).is_some());
}

#[test]
fn unusual_plots_are_drawn() {
    for axes in [
        Axes::new(),
        Axes::new().log_x().log_y(),
        plot(&[1.0], &[2.0]),
        plot(&[1.0, 1.0], &[2.0, 2.0]).label("twice"),
        plot(&[f64::MIN, f64::MAX], &[f64::MIN, f64::MAX]),
        plot(&[5e-324, 1e-320], &[5e-324, 1e-320]).log_x(),
        plot(&[1e15, 1e15 + 1.0], &[0, 1]),
        scatter(&[0, 1], &[0, 1]).xlim(5.0, 9.0).label("outside"),
        plot(&[0, 1], &[0, 1]).size(1, 1).label("small").title("small"),
        imshow(&Array2::<f32>::zeros((1, 10_000))),
        imshow(&Array2::<f32>::zeros((10_000, 1))),
        imshow(&arr2(&[[1.0, 2.0]])).xlim(7.0, 9.0),
        imshow(&arr2(&[[1.0, 2.0]])).extent([1.0, 100.0, 1.0, 100.0]).log_x().log_y(),
        imshow(&arr2(&[[1.0, 2.0]])).size(1, 1),
        hist(&[f64::MIN, f64::MAX], 7),
        hist(&[1e300; 4], 3),
        hist(&[-1.0, 0.0, 5.0], 3).log_x(),
    ] {
        let text = format!("{axes:?}");
        assert!(axes.png().is_ok(), "{text}");
    }
}

#[test]
fn equal_calls_give_equal_bytes() {
    let axes = || {
        let field = Array2::from_shape_fn((30, 50), |(i, j)| (i as f64 * 0.1).sin() + (j as f64 * 0.2).cos());
        imshow(&field).label("b (T)").plot_y(&field.index_axis(Axis(0), 3).to_vec()).label("row 3")
    };
    assert_eq!(axes().png().unwrap(), axes().png().unwrap());
}

#[test]
fn animations_have_all_frames() {
    let frame = |k: u8| imshow(&arr2(&[[k, 1], [2, 3]])).range(0.0, 3.0).size(60, 60).draw().unwrap();
    let mut frames: Vec<Picture> = (0..3).map(frame).collect();
    frames.push(plot_y(&[1.0, 2.0]).size(200, 30).draw().unwrap()); // wider and lower than the others
    let bytes = animation(&frames, 20).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
    let control = *reader.info().animation_control().unwrap();
    assert_eq!((control.num_frames, control.num_plays), (4, 0));
    let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
    for _ in 0..4 {
        let info = reader.next_frame(&mut buffer).unwrap();
        assert_eq!((info.width, info.height), (frames[3].width(), frames[0].height()));
    }
    assert!(matches!(animation(&[], 20), Err(Error::Empty { .. })));
    assert!(matches!(animation(&frames, 0), Err(Error::Argument { .. })));

    let path = std::env::temp_dir().join(format!("backends-plot-animation-{}.png", std::process::id()));
    save_animation(&path, &frames, 20).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    frames[0].save(&path).unwrap();
    let saved = Decoded::of(&std::fs::read(&path).unwrap());
    std::fs::remove_file(&path).unwrap();
    assert_eq!(saved.pixels.concat(), frames[0].as_bytes());
    assert_eq!(frames[0].pixel(3, 2), Some(saved.at(3, 2)));
    assert_eq!(frames[0].pixel(saved.width as u32, 0), None);
}
