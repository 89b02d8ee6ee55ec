/** A bar of the picture: its name, and the lengths of its segments by name. */
export interface Bar {
  name: string
  segments: Record<string, number>
}

const [left, right, top, barHeight, gap] = [210, 70, 24, 22, 12]
const width = 900
const colors = [
  '#4269d0',
  '#efb118',
  '#ff725c',
  '#6cc5b0',
  '#3ca951',
  '#ff8ab7',
  '#a463f2',
  '#97bbf5',
  '#9c6b4e',
  '#9498a0',
]

/** Draws bars below each other in SVG, to one scale, with a legend. `unit` stands behind each sum. */
export function drawBars(title: string, unit: string, bars: Bar[]): string {
  const names = [...new Set(bars.flatMap(({ segments }) => Object.keys(segments)))]
  const sumOf = ({ segments }: Bar) => Object.values(segments).reduce((sum, length) => sum + length, 0)
  const scale = (width - left - right) / Math.max(...bars.map(sumOf))
  const colorOf = (name: string) => colors[names.indexOf(name) % colors.length]!
  const legendTop = top + bars.length * (barHeight + gap) + 20
  const columns = 4
  const lines = bars.flatMap((bar, index) => {
    const y = top + index * (barHeight + gap)
    let x = left
    const drawn = Object.entries(bar.segments).map(([name, length]) => {
      const at = x
      x += length * scale
      const label =
        length * scale > 26 ? text(at + (length * scale) / 2, y + 15, length.toFixed(0), 'middle', '#fff') : ''
      return `<rect x="${round(at)}" y="${y}" width="${round(length * scale)}" height="${barHeight}" fill="${colorOf(name)}"><title>${escape(name)}: ${length.toFixed(0)} ${unit}</title></rect>${label}`
    })
    return [text(left - 8, y + 15, bar.name, 'end'), ...drawn, text(x + 6, y + 15, `${sumOf(bar).toFixed(0)} ${unit}`)]
  })
  const legend = names.flatMap((name, index) => {
    const [x, y] = [left + (index % columns) * 165, legendTop + Math.floor(index / columns) * 20]
    return [`<rect x="${x}" y="${y}" width="12" height="12" fill="${colorOf(name)}"/>`, text(x + 18, y + 10, name)]
  })
  const height = legendTop + Math.ceil(names.length / columns) * 20 + 10
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" role="img" aria-label="${escape(title)}">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text(left, 14, title),
    ...lines,
    ...legend,
    '</svg>\n',
  ].join('\n')
}

function text(x: number, y: number, content: string, anchor = 'start', fill = '#222'): string {
  return `<text x="${round(x)}" y="${y}" text-anchor="${anchor}" fill="${fill}">${escape(content)}</text>`
}

function escape(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

function round(number: number): string {
  return number.toFixed(1)
}
