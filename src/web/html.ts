export * from '../util/html.js';
