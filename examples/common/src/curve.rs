//! Pictures of curves, with a logarithmic vertical axis.

use crate::figure::{self, Numbers, Picture};
use plotters::{prelude::*, style::text_anchor::HPos};
use std::error::Error;

/// A curve: points connected by lines.
pub struct Curve {
    /// The name in the legend.
    pub name: String,
    /// Horizontal and vertical coordinates. A point is left out if a coordinate is not finite, or if its vertical
    /// coordinate is not positive.
    pub points: Vec<[f64; 2]>,
}

/// The colour of each curve, and its width in pixels. The first curve is thin, because it may have many points.
const COLORS: [(RGBColor, u32); 4] =
    [(RGBColor(150, 178, 220), 1), (RGBColor(200, 60, 40), 3), (RGBColor(40, 130, 70), 3), (RGBColor(120, 70, 160), 3)];

/// Draws curves into one picture of this size (width, height). `labels` names the horizontal and the vertical axis.
pub fn draw(title: &str, labels: [&str; 2], curves: &[Curve], size: [u32; 2]) -> Result<Picture, Box<dyn Error>> {
    figure::prepare();
    let seen = |curve: &Curve| -> Vec<[f64; 2]> {
        curve.points.iter().copied().filter(|[x, y]| x.is_finite() && y.is_finite() && *y > 0.0).collect()
    };
    let all: Vec<[f64; 2]> = curves.iter().flat_map(seen).collect();
    let bounds = |axis: usize| {
        let values = || all.iter().map(|p| p[axis]);
        [values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max)]
    };
    if all.is_empty() {
        return Err("there is no point to draw".into());
    }
    let ([left, right], [low, high]) = (bounds(0), bounds(1));
    let right = if right > left { right } else { left + 1.0 };
    let (low, high) = (low / 1.3, high * 1.3);
    let [width, height] = size;
    Picture::painted(width, height, |root| {
        root.fill(&WHITE)?;
        figure::text(root, title, [width / 2, 14], figure::TITLE, HPos::Center)?;
        let mut chart = ChartBuilder::on(root)
            .margin_top(58)
            .margin_right(30)
            .x_label_area_size(60)
            .y_label_area_size(90)
            .build_cartesian_2d(left..right, (low..high).log_scale())?;
        let across = Numbers::over([left, right]);
        let font = |size| (figure::FONT, size).into_font().color(&figure::INK);
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .axis_style(figure::INK)
            .label_style(font(figure::NUMBER))
            .axis_desc_style(font(figure::NAME))
            .x_desc(labels[0])
            .y_desc(labels[1])
            .x_label_formatter(&|v| across.show(*v))
            .y_label_formatter(&|v| format!("{v}"))
            .draw()?;
        let mut top = 70;
        for (curve, (color, thick)) in curves.iter().zip(COLORS.into_iter().cycle()) {
            let points: Vec<(f64, f64)> = seen(curve).into_iter().map(|[x, y]| (x, y)).collect();
            chart.draw_series([PathElement::new(points, color.stroke_width(thick))])?;
            let end = width as i32 - 50;
            root.draw(&PathElement::new([(end - 40, top + 9), (end, top + 9)], color.stroke_width(thick)))?;
            figure::text(root, &curve.name, [(end - 52) as u32, top as u32], figure::NUMBER, HPos::Right)?;
            top += 26;
        }
        Ok(())
    })
}
