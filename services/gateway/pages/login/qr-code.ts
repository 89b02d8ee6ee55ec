import { encode } from 'uqr'
import { html, type Html } from './html.ts'

/**
 * A QR code as markup of the page: a picture by its address would need a secret in that. One path of runs, since a page stays
 * small. It is dark on light in every theme, or some cameras do not read it.
 */
export function qrCode(content: string, label: string): Html {
  const { size, data } = encode(content, { border: 4 })
  const runs = data.flatMap((row, y) => {
    const bits = row.map((isDark) => (isDark ? '1' : '0')).join('')
    return [...bits.matchAll(/1+/g)].map(({ index, 0: { length } }) => `M${index} ${y}h${length}v1h-${length}z`)
  })
  return html`<svg
    class="qr"
    role="img"
    aria-label="${label}"
    viewBox="0 0 ${size} ${size}"
    shape-rendering="crispEdges"
    xmlns="http://www.w3.org/2000/svg"
  >
    <path fill="#fff" d="M0 0h${size}v${size}H0z" />
    <path fill="#000" d="${runs.join('')}" />
  </svg>`
}
