import type { Branch } from './span-tree.ts'

const [width, names, row, top] = [960, 470, 20, 34]
// Colors that people with any kind of colour vision distinguish, on light and on dark.
const colors = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00']

/** A trace as a picture: a line for each span, below its parent, with a bar from its beginning to its end. */
export function pictureOf(branch: Branch): string {
  const rows = rowsOf(branch)
  const [from, to] = [branch.span.began, rows.reduce((last, { span }) => (span.ended > last ? span.ended : last), 0n)]
  const milliseconds = Number(to - from) / 1e6
  const x = (time: bigint) => names + (Number(time - from) / 1e6 / milliseconds) * (width - names - 70)
  const services = [...new Set(rows.map(({ span }) => span.service))]
  const color = (service: string) => colors[services.indexOf(service) % colors.length]!
  const height = top + rows.length * row + 6
  const lines = rows.map(({ span, depth }, index) => {
    const y = top + index * row
    const took = Number(span.ended - span.began) / 1e6
    const length = Math.max(2, x(span.ended) - x(span.began))
    return [
      `<text x="${6 + depth * 12}" y="${y + 14}">${escape(span.name)}</text>`,
      `<rect x="${fixed(x(span.began))}" y="${y + 4}" width="${fixed(length)}" height="12" fill="${color(span.service)}"/>`,
      `<text x="${fixed(x(span.began) + length + 4)}" y="${y + 14}" class="time">${took.toFixed(1)} ms</text>`,
    ].join('')
  })
  const legend = services.map((service, index) => {
    const at = names + index * 110
    return `<rect x="${at}" y="8" width="12" height="12" fill="${color(service)}"/><text x="${at + 17}" y="18">${escape(service)}</text>`
  })
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    '<style>text{fill:#222}.time{fill:#666;font-size:10px}</style>',
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...legend,
    ...lines,
    '</svg>',
  ].join('\n')}\n`
}

/** The lines of such a picture: name and service of each span, indented by two blanks for each span above it. */
export function linesOfPicture(picture: string): string[] {
  const legend = [...picture.matchAll(/fill="(#\w+)"\/><text x="\d+" y="18">([^<]*)<\/text>/g)]
  const serviceOf = Object.fromEntries(legend.map(([, color, service]) => [color!, service!.replace('roster-', '')]))
  const spans = picture.matchAll(/^<text x="(\d+)" y="\d+">([^<]*)<\/text><rect [^>]*fill="(#\w+)"/gm)
  return [...spans].map(([, x, name, color]) => {
    const plain = name!.replaceAll('&lt;', '<').replaceAll('&amp;', '&')
    return `${' '.repeat((Number(x) - 6) / 6)}${plain} [${serviceOf[color!]}]`
  })
}

function rowsOf(branch: Branch, depth = 0): { span: Branch['span']; depth: number }[] {
  return [{ span: branch.span, depth }, ...branch.below.flatMap((below) => rowsOf(below, depth + 1))]
}

const fixed = (number: number) => number.toFixed(1)
const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
