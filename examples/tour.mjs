import { version } from 'hashline-native'

console.log(`hashline-native ${version()}`)
