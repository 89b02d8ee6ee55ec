// Writes the cookie again after a refresh, which pages cannot do. (In Next.js before 16: `middleware.js`, `middleware`.)
export { auth as proxy } from './auth.js'
